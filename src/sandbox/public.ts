/**
 * `espalier/sandbox`: a control plane on this machine, for the tests of programs that use the service.
 *
 * Every type that is exported is written out here, so that the package's one file of types needs no other.
 */
import { EspalierError } from '../model/index.ts'
import { manualClock as newManualClock } from './clock/clock.ts'
import { type TestBranch, testBranch } from './control/test-branch.ts'
import { readSeed } from './seed/read-seed.ts'
import { startSandbox as start } from './start-sandbox.ts'

/** A compute of a seed. */
export interface SeedCompute {
  /** Begins with `ep-`. Default: made from the seed. */
  id?: string
  type?: 'read_write' | 'read_only'
  name?: string
  /** Compute units, or the limits of autoscaling. Default: 0.25. */
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
  /** Begins with `br-`. Default: made from the seed. */
  id?: string
  name: string
  /** If no branch is marked as the default, the first one is. */
  default?: boolean
  protected?: boolean
  /** The name of a branch before this one. */
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

/** A key besides the sandbox's own. */
export type SeedKey = { key: string; revoked?: boolean } & (
  | { kind: 'personal' }
  | { kind: 'organization'; org: string }
  | { kind: 'project'; project: string }
)

/** What a sandbox starts from. */
export interface Seed {
  projects: SeedProject[]
  keys?: SeedKey[]
}

/** Time as the sandbox counts it, in milliseconds since the epoch. */
export interface Clock {
  now(): number
  /** Moves time on; what falls due happens, in order, before this resolves. */
  advance(ms: number): Promise<void>
  /** How many times as fast as real time it runs; 0 where it is stopped. */
  scale: number
}

export interface SandboxOptions {
  /** Port of the API on 127.0.0.1. Default: a free one. */
  port?: number
  /** A folder to keep the state in. Default: the state ends with the sandbox. */
  stateDir?: string
  /** What to start from, or a YAML file with it. Default: no project. */
  seed?: Seed | string
  /** `postgres` runs a Postgres behind each compute. Default: `simulated`. */
  computes?: 'simulated' | 'postgres' | { kind: 'postgres'; bin?: string; port?: number; tempDiskScale?: number }
  /** The key that it accepts. Default: a new one. */
  apiKey?: string
  /** How many times as fast as real time it runs. Default: 1. */
  timeScale?: number
  /** From `manualClock()`: time moves when the test moves it. */
  clock?: Clock
  /** How long operations take, by action, in milliseconds. */
  durations?: Record<string, number>
  /** Whether the control plane does things by itself. Default: yes. */
  background?: boolean
  /** Whether the published rate limits hold. Default: no. */
  rateLimits?: boolean
  /** Takes a line for each request and each change of an operation. */
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
  /** The base URL for clients of the API, version included. */
  readonly apiUrl: string
  readonly apiKey: string
  /** The sandbox's own API: faults, clock, requests. It wants the token as bearer token. */
  readonly controlUrl: string
  readonly controlToken: string
  readonly clock: Clock
  /** How many requests were answered so far. */
  readonly requests: number
  /**
   * Where an application connects. Needs real computes.
   *
   * @param compute an id, the name of a branch for its primary, or `branch/name` for a replica.
   */
  connectionString(compute: string, options?: { pooled?: boolean }): Promise<string>
  /** Makes a branch with the data of another one, and a compute on it. Default: of the default branch. */
  createBranch(options?: { name?: string; parent?: string; project?: string }): Promise<Branch>
  /** Ends the sandbox; the state stays where it is. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** A clock that is stopped until a test moves it. */
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
      throw new EspalierError('E_SIMULATED', `No Postgres is behind ${found.id}.`, {
        hint: "Start the sandbox with computes: 'postgres'.",
      })
    },
    createBranch: async (asked = {}) => disposable(await testBranch(sandbox, asked)),
    close: () => sandbox.close(),
    [Symbol.asyncDispose]: () => sandbox.close(),
  }
}

const disposable = (branch: TestBranch): Branch => ({ ...branch, [Symbol.asyncDispose]: () => branch.delete() })

/** A clock of somebody else's making could not run the sandbox's timers. */
const ownClock = (clock: Clock) => {
  if (isOwn(clock)) return clock
  throw new EspalierError('E_USAGE', 'The clock must come from manualClock().')
}

const isOwn = (clock: Clock): clock is ReturnType<typeof newManualClock> => 'when' in clock && 'at' in clock

const isNamed = (
  {
    id,
    branchName,
    type,
    name,
  }: { readonly id: string; readonly branchName: string; readonly type: string; readonly name?: string },
  wanted: string,
): boolean => [id, type === 'read_write' ? branchName : `${branchName}/${name}`].includes(wanted)
