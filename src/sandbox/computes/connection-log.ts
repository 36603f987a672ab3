/** A log of client connections that are open or were closed recently. */
import { randomUUID } from 'node:crypto'
import type { ConnectionInfo } from './computes.ts'

const REMEMBERED = 1_000

export class ConnectionLog {
  readonly #open = new Map<string, ConnectionInfo>()
  readonly #ended: ConnectionInfo[] = []

  open(computeId: string): ConnectionInfo {
    const connection = { id: randomUUID(), computeId, openedAt: Date.now() }
    this.#open.set(connection.id, connection)
    return connection
  }

  close(id: string): void {
    const connection = this.#open.get(id)
    if (connection === undefined) return
    this.#open.delete(id)
    this.#ended.push({ ...connection, closedAt: Date.now() })
    if (this.#ended.length > REMEMBERED) this.#ended.shift()
  }

  closeAll(computeId: string): void {
    for (const connection of [...this.#open.values()]) if (connection.computeId === computeId) this.close(connection.id)
  }

  list(): readonly ConnectionInfo[] {
    return [...this.#open.values(), ...this.#ended]
  }
}
