/** A sandbox and the apply engine in shared virtual time, over real HTTP: ten minutes of waiting take no time. */
import { subscribe } from 'node:diagnostics_channel'
import { type ApiOptions, createWriteApi, type WriteApi } from '../../src/api/index.ts'
import type { Clock } from '../../src/base/index.ts'
import { manualClock, type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.ts'
import type { Manifests } from '../../src/workflow/index.ts'
import { type DeclaredDocument, desired } from '../planner/world.ts'
import { virtualTime } from '../virtual-time.ts'

/** The manifests of a run, without files. */
export const manifestsOf = (declared: DeclaredDocument): Manifests => ({
  paths: [],
  loaded: {
    desired: desired(declared),
    diagnostics: [],
    files: [],
    seeds: [],
    policyFiles: [],
    texts: new Map(),
    lineOf: () => undefined,
  },
})

export interface Stage {
  readonly sandbox: Sandbox
  /** Shared by the engine and the sandbox. */
  readonly clock: Clock
  /** Must be called on every event that is neither a request nor a sleep. */
  busy(): void
  connect(options?: Partial<ApiOptions>): WriteApi
  /** Advances time whenever all parties wait for it, until the work is done. */
  during<T>(work: Promise<T>): Promise<T>
}

/**
 * Client and server share one event loop. After this many turns without an event, no message is in transit; without an
 * open request, only synchronous work can be left.
 */
const IDLE_TURNS = { requested: 25, alone: 4 }
/** Counts the open requests of all clients in this process. */
const requests = { open: 0 }
for (const [name, by] of [
  ['create', 1],
  ['trailers', -1],
  ['error', -1],
] as const) {
  subscribe(`undici:request:${name}`, () => {
    requests.open += by
  })
}

/** File writes and child processes take no virtual time. */
const isDiskBusy = (): boolean =>
  process
    .getActiveResourcesInfo()
    .some((name) => name.startsWith('FSReq') || name === 'CloseReq' || name === 'ProcessWrap')

export interface StageOptions extends Omit<SandboxOptions, 'clock'> {
  /** Tests that delay requests for long are faster with a longer stride. */
  readonly strideMs?: number
  /** Called after each request is handled and before its response is sent. */
  readonly onHandled?: (method: string, path: string, status: number) => void
}

export const openStage = async ({ onHandled, strideMs, ...options }: StageOptions = {}): Promise<Stage> => {
  const time = manualClock()
  const { clock, busy, during } = virtualTime({
    time,
    idleTurns: () => (requests.open > 0 ? IDLE_TURNS.requested : IDLE_TURNS.alone),
    isRequested: () => requests.open > 0,
    isDiskBusy,
    ...(strideMs === undefined ? {} : { strideMs }),
  })
  const sandbox = await startSandbox({
    background: false,
    ...options,
    clock: time,
    onRequest: (method, path, status) => {
      busy()
      onHandled?.(method, path, status)
    },
  })
  return {
    sandbox,
    clock,
    busy,
    connect: (api = {}) =>
      createWriteApi({ baseUrl: sandbox.apiUrl, apiKey: sandbox.apiKey, clock, random: () => 0.5, ...api }),
    during: async (work) => {
      await during(work)
      return work
    },
  }
}
