/**
 * `espalier/sandbox`: an embedded control plane, for testing programs that use the service.
 *
 * All exported types are defined in this file, so that one declaration file contains all of them.
 */
import { EspalierError } from '../model/index.ts'
import { manualClock as newManualClock } from './clock/clock.ts'
import type { ReachableCompute } from './control/control.ts'
import { readSeed } from './seed/seed.ts'
import { startSandbox as start } from './start-sandbox.ts'

/** A compute of a seed. */
export interface SeedCompute {
  /** Starts with `ep-`. Default: derived from the seed. */
  id?: string
  type?: 'read_write' | 'read_only'
  name?: string
  /** Compute units, or an autoscaling range. Default: 0.25. */
  size?: number | { min: number; max: number }
  /** `default`, `never`, or a duration with its unit, such as `5m`. */
  scaleToZero?: string
  /** Default: active. */
  state?: 'active' | 'idle'
  disabled?: boolean
  postgres?: { settings?: Record<string, string>; preload?: string[] }
}

/** A branch of a seed. */
export interface SeedBranch {
  /** Starts with `br-`. Default: derived from the seed. */
  id?: string
  name: string
  /** If no branch sets this, the first one is the default branch. */
  default?: boolean
  protected?: boolean
  /** The name of a branch listed before this one. */
  parent?: string
  computes?: SeedCompute[]
}

/** A project of a seed. */
export interface SeedProject {
  /** Lower-case letters, digits and hyphens. */
  id: string
  name?: string
  region?: string
  plan?: 'free' | 'paid'
  org?: string
  defaults?: { size?: number | { min: number; max: number }; scaleToZero?: string }
  branches: SeedBranch[]
  operations?: number
}

/** An API key in addition to the sandbox's own. */
export type SeedKey = { key: string; revoked?: boolean } & (
  | { kind: 'personal' }
  | { kind: 'organization'; org: string }
  | { kind: 'project'; project: string }
)

/** The initial projects and keys of a sandbox. */
export interface Seed {
  projects: SeedProject[]
  keys?: SeedKey[]
}

/** The sandbox's clock, in milliseconds since the epoch. */
export interface Clock {
  now(): number
  /** Moves the clock forward. Everything that becomes due happens, in order, before this resolves. */
  advance(ms: number): Promise<void>
  /** Speed relative to real time; 0 if the clock is stopped. */
  scale: number
}

export interface SandboxOptions {
  /** Port of the API on 127.0.0.1. Default: any free port. */
  port?: number
  /** Folder for the state. Default: the state is lost when the sandbox closes. */
  stateDir?: string
  /** The initial projects, or the path of a YAML file that lists them. Default: none. */
  seed?: Seed | string
  /** `postgres` runs a Postgres server for each compute. Default: `simulated`. */
  computes?: 'simulated' | 'postgres' | { kind: 'postgres'; bin?: string; port?: number; tempDiskScale?: number }
  /** The API key. Default: a new one. */
  apiKey?: string
  /** Speed of the clock relative to real time. Default: 1. */
  timeScale?: number
  /** A clock from `manualClock()`, which only the test moves. */
  clock?: Clock
  /** Duration of operations in milliseconds, by action. */
  durations?: Record<string, number>
  /** Whether the control plane does background work: availability checks, archiving, detaching. Default: yes. */
  background?: boolean
  /** Whether to enforce the service's published rate limits. Default: no. */
  rateLimits?: boolean
  /** Called with a line for each request and each change of an operation. */
  log?: (line: string) => void
}

/** A branch for one test, with its own compute. */
export interface Branch {
  readonly id: string
  readonly name: string
  /** For `DATABASE_URL`. */
  readonly connectionString: string
  /** Deletes the branch and its compute. */
  delete(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface Sandbox {
  /** Base URL for API clients, including the version. */
  readonly apiUrl: string
  readonly apiKey: string
  /** The sandbox's own API (faults, clock, requests). Requests need `controlToken` as their bearer token. */
  readonly controlUrl: string
  readonly controlToken: string
  readonly clock: Clock
  /** How many requests have been answered. */
  readonly requests: number
  /**
   * A connection string for applications. Needs real computes.
   *
   * @param compute the id of a compute, the name of a branch (for its primary), or `branch/name` (for a replica).
   */
  connectionString(compute: string, options?: { pooled?: boolean }): Promise<string>
  /** Creates a branch with a compute. The branch gets the data of `parent` (default: the default branch). */
  createBranch(options?: { name?: string; parent?: string; project?: string }): Promise<Branch>
  /** Stops the sandbox; its state stays on disk. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** A clock that only moves by `advance`. */
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
      throw new EspalierError('E_SIMULATED', `${found.id} is simulated, so it has no connection string.`, {
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
