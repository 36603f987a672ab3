/** Computes without Postgres. Only their connections are simulated. */
import { type Computes, ConnectionError, type Gate, RESERVED_CONNECTIONS, TOO_MANY_CONNECTIONS } from './computes.ts'
import { ConnectionLog } from './connection-log.ts'

/** Versions that the service offers (public OpenAPI). */
const VERSIONS: readonly number[] = [14, 15, 16, 17, 18]

export const simulatedComputes = (gate: Gate): Computes => {
  const log = new ConnectionLog()
  const drop = (id: string): undefined => {
    log.closeAll(id)
    return undefined
  }
  return {
    kind: 'simulated',
    versions: VERSIONS,
    description: 'simulated, with states and times but without SQL',
    stop: drop,
    restart: ({ id }) => drop(id),
    forget: drop,
    connect: async (id) => {
      const { maxConnections } = await gate.reach(id)
      const open = log.list().filter(({ computeId, closedAt }) => computeId === id && closedAt === undefined)
      if (open.length >= maxConnections - RESERVED_CONNECTIONS) {
        throw new ConnectionError(TOO_MANY_CONNECTIONS, 'sorry, too many clients already')
      }
      return log.open(id)
    },
    disconnect: (id) => log.close(id),
    connections: () => log.list(),
    close: async () => undefined,
  }
}
