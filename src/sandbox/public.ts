/** `espalier/sandbox`: an embedded control plane for testing programs that use the service. */
import { EspalierError } from '../base/index.ts'
import { type Clock, manualClock as newManualClock } from './clock.ts'
import { POOLER_MISSING } from './computes/computes.ts'
import type { ReachableCompute } from './control/control.ts'
import type { Sandbox, SandboxOptions } from './public-types.ts'
import { readSeed } from './seed/seed.ts'
import { startSandbox as start } from './start-sandbox.ts'

export type { Clock } from './clock.ts'
export type * from './public-types.ts'

/** A clock that moves only when `advance` is called. */
export const manualClock = (start?: number): Clock => newManualClock(start)

/** Starts a control plane on 127.0.0.1. */
export const startSandbox = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  const { seed, computes = 'simulated', clock, ...rest } = options
  const sandbox = await start({
    ...rest,
    ...(seed === undefined ? {} : { seed: typeof seed === 'string' ? await readSeed(seed) : seed }),
    ...(clock === undefined ? {} : { clock: ownClock(clock) }),
    computes: typeof computes === 'string' ? { kind: computes } : computes,
  })
  return {
    apiUrl: sandbox.apiUrl,
    apiKey: sandbox.apiKey,
    controlUrl: sandbox.controlUrl,
    controlToken: sandbox.controlToken,
    clock: sandbox.clock,
    get requests() {
      return sandbox.requests
    },
    connectionString: async (compute, { pooled = false } = {}) => {
      const found = (await sandbox.control.computes()).find((candidate) => isNamed(candidate, compute))
      const uri = pooled ? found?.pooledUri : found?.uri
      if (uri !== undefined) return uri
      if (found === undefined) throw new EspalierError('E_NO_COMPUTE', `There is no compute ${compute}.`)
      if (found.uri !== undefined) throw new EspalierError('E_USAGE', `The sandbox cannot make one: ${POOLER_MISSING}.`)
      throw new EspalierError('E_NO_SANDBOX', `${found.id} is simulated, so it has no connection string.`, {
        hint: "Start the sandbox with computes: 'postgres'.",
      })
    },
    createBranch: async (options = {}) => {
      const branch = await sandbox.control.createBranch(options)
      return { ...branch, [Symbol.asyncDispose]: branch.delete }
    },
    close: () => sandbox.close(),
    [Symbol.asyncDispose]: () => sandbox.close(),
  }
}

/** Only clocks from `manualClock()` can run the sandbox's timers. */
const ownClock = (clock: Clock) => {
  if (isOwn(clock)) return clock
  throw new EspalierError('E_USAGE', 'The clock must come from manualClock().')
}

const isOwn = (clock: Clock): clock is ReturnType<typeof newManualClock> => 'when' in clock && 'at' in clock

const isNamed = ({ id, branchName, type, name }: ReachableCompute, wanted: string): boolean =>
  [id, type === 'read_write' ? branchName : `${branchName}/${name}`].includes(wanted)
