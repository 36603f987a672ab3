/** The types of `espalier/sandbox`. They depend on no library, because its users may not have installed it. */
import type { Clock } from './clock.ts'

/** A compute in a seed. */
export interface SeedCompute {
  /** Must start with `ep-`. By default, the id is derived from the seed. */
  id?: string
  type?: 'read_write' | 'read_only'
  name?: string
  /** A number of compute units, or a range for autoscaling. Default: 0.25. */
  size?: number | { min: number; max: number }
  /** `default`, `never`, or a duration with its unit, such as `5m`. */
  scaleToZero?: string
  /** Default: active. */
  state?: 'active' | 'idle'
  disabled?: boolean
  postgres?: { settings?: Record<string, string>; preload?: string[] }
}

/** A branch in a seed. */
export interface SeedBranch {
  /** Must start with `br-`. By default, the id is derived from the seed. */
  id?: string
  name: string
  /** If no branch sets this, the first one is the default branch. */
  default?: boolean
  protected?: boolean
  /** The name of a branch that is listed before this one. */
  parent?: string
  computes?: SeedCompute[]
}

/** A project in a seed. */
export interface SeedProject {
  /** Can contain lower-case letters, digits and hyphens. */
  id: string
  name?: string
  region?: string
  plan?: 'free' | 'paid'
  org?: string
  defaults?: { size?: number | { min: number; max: number }; scaleToZero?: string }
  branches: SeedBranch[]
  operations?: number
}

/** An API key in addition to the sandbox's own key. */
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

export interface SandboxOptions {
  /** The port of the API on 127.0.0.1. Default: any free port. */
  port?: number
  /** The folder in which the state is stored. By default, the state is lost when the sandbox closes. */
  stateDir?: string
  /** The initial projects, or the path of a YAML file that lists them. By default, there are none. */
  seed?: Seed | string
  /** `postgres` runs a Postgres server for each compute. Default: `simulated`. */
  computes?: 'simulated' | 'postgres' | { kind: 'postgres'; bin?: string; port?: number; tempDiskScale?: number }
  /** The API key. Default: the key in `stateDir` if there is one, otherwise a new key. */
  apiKey?: string
  /** The speed of the clock relative to real time. Default: 1. */
  timeScale?: number
  /** A clock from `manualClock()`, which moves only when the test moves it, or while `createBranch` or `delete` waits. */
  clock?: Clock
  /** How long operations take at least, in milliseconds ± 10 %, by action. */
  durations?: Record<string, number>
  /** Whether the control plane does background work: availability checks, archiving, detaching. Default: yes. */
  background?: boolean
  /** Whether to enforce the service's published rate limits. Default: no. */
  rateLimits?: boolean
  /** Called with a line of text for each request and for each change of an operation. */
  log?: (line: string) => void
}

/** A branch for a single test, with a compute of its own. */
export interface Branch {
  readonly id: string
  readonly name: string
  /** The connection string for an application, usually in `DATABASE_URL`. */
  readonly connectionString: string
  /** Deletes the branch and its compute. */
  delete(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** A running sandbox. */
export interface Sandbox {
  /** The base URL for API clients, including the API version. */
  readonly apiUrl: string
  /** The API key for clients. It has access to all projects of the sandbox. */
  readonly apiKey: string
  /** The URL of the sandbox's own API (faults, clock, requests). Requests need `controlToken` as their bearer token. */
  readonly controlUrl: string
  /** The bearer token for `controlUrl`. */
  readonly controlToken: string
  /** The sandbox's time. With a clock from `manualClock()`, that clock. */
  readonly clock: Clock
  /** How many requests have been answered. */
  readonly requests: number
  /**
   * A connection string for applications. Needs real computes.
   *
   * @param compute the id of a compute, the name of a branch (for its primary), or `branch/name` (for a replica).
   */
  connectionString(compute: string, options?: { pooled?: boolean }): Promise<string>
  /** Creates a branch with a compute. Its data is copied from `parent`, which defaults to the default branch. */
  createBranch(options?: { name?: string; parent?: string; project?: string }): Promise<Branch>
  /** Stops the sandbox. If it has a `stateDir`, the state remains there. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
