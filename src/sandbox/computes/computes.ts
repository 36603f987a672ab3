/** The interface of compute backends: simulated, or real Postgres. */

/** Roles and databases of a branch. */
export interface BranchCatalog {
  readonly roles: readonly {
    readonly name: string
    readonly password?: string | undefined
    readonly canLogin: boolean
  }[]
  readonly databases: readonly { readonly name: string; readonly owner: string }[]
}

/** An idempotent change to a role or database. */
export type CatalogChange =
  | { readonly kind: 'put-role'; readonly role: BranchCatalog['roles'][number] }
  | { readonly kind: 'drop-role'; readonly name: string }
  | { readonly kind: 'put-database'; readonly name: string; readonly owner: string }
  | { readonly kind: 'rename-database'; readonly name: string; readonly to: string }
  | { readonly kind: 'drop-database'; readonly name: string }

/** Roles and databases as Postgres has them. */
export interface LiveCatalog {
  readonly roles: readonly {
    readonly name: string
    readonly canLogin: boolean
    /** Whether this is the role's password. False if SQL changed it, or if there is none. */
    readonly hasPassword: (password: string) => boolean
  }[]
  readonly databases: BranchCatalog['databases']
}

/** A database login role. */
export interface Login {
  readonly user: string
  readonly password: string
  readonly database: string
}

/** How a compute must run. */
export interface ComputeSpec {
  readonly id: string
  readonly branchId: string
  readonly type: 'read_write' | 'read_only'
  readonly maxConnections: number
  /** Limit for all temporary files together, in bytes (docs/control-api.md). */
  readonly tempDiskBytes: number
  /** Postgres settings by name. */
  readonly settings: Readonly<Record<string, string>>
  /** Value of `shared_preload_libraries`. */
  readonly libraries: readonly string[]
  /** Major version of Postgres. */
  readonly pgVersion: number
  /** Whether logical replication is on: `wal_level = logical`, and roles may replicate. */
  readonly isLogical: boolean
  /** Initial roles and databases of a branch without data. */
  readonly catalog: BranchCatalog
  /** Pending changes to roles and databases, oldest first. A primary executes them. */
  readonly changes: readonly CatalogChange[]
}

/** A connection that is open, or was until recently. */
export interface ConnectionInfo {
  readonly id: string
  readonly computeId: string
  /** Milliseconds since the epoch, by the system clock. */
  readonly openedAt: number
  /** Absent while it is open. */
  readonly closedAt?: number
}

export interface Activity {
  /** Whether a query is running. */
  readonly busy: boolean
  /** Time of the last client activity, as a value of `performance.now()`; `-Infinity` if there was none. */
  readonly lastUse: number
}

export interface BranchSource {
  readonly branchId: string
  /** Whether to copy tables without their rows. */
  readonly isSchemaOnly: boolean
}

export interface RestoreWork {
  /** Unique per restore. An interrupted restore is repeated; a finished one is not. */
  readonly id: string
  readonly from: string
  readonly preserveAs?: string | undefined
}

/**
 * Promises settle when the work is done; `undefined` means that there is no work to do. Calls are idempotent. Calls for
 * the same compute run one after the other.
 */
export interface Computes {
  readonly kind: 'postgres' | 'simulated'
  /** For display: the kind of computes, and where clients connect. */
  readonly description: string
  /** The available major versions of Postgres. */
  readonly versions: readonly number[]
  /** Creates a branch with the current data of its source, or without data. */
  addBranch(id: string, source: BranchSource | undefined): Promise<void> | undefined
  /**
   * Replaces a branch's data with the current data of another branch. The branch `preserveAs`, if given, receives the
   * old data. The branch's computes stop; the next connection starts them again.
   */
  restoreBranch(id: string, work: RestoreWork): Promise<void> | undefined
  removeBranch(id: string): Promise<void> | undefined
  start(spec: ComputeSpec): Promise<void> | undefined
  /** Connections end with SQLSTATE 57P01. */
  stop(id: string): Promise<void> | undefined
  /** Does nothing if the compute already runs with this spec. */
  restart(spec: ComputeSpec): Promise<void> | undefined
  /** Applies the settings that can be changed without a restart. */
  configure(spec: ComputeSpec): Promise<void> | undefined
  /** Call when the compute is deleted. */
  forget(id: string): Promise<void> | undefined
  activity(id: string): Promise<Activity> | undefined
  /** Opens a connection that the sandbox itself holds. Starts the compute if it is idle. */
  connect(id: string, login: Login | undefined): Promise<ConnectionInfo>
  disconnect(connectionId: string): void
  /** Open and recently closed connections. */
  connections(): readonly ConnectionInfo[]
  /** Roles and databases of a branch; `undefined` if its primary is not running. */
  readCatalog(branchId: string): Promise<LiveCatalog | undefined> | undefined
  /** Output of `pg_dump --schema-only`. Starts the compute if it is idle. `undefined` if the compute is simulated. */
  dumpSchema(id: string, login: Login): Promise<string> | undefined
  /** The port on 127.0.0.1 for an address from a client: a compute's host name, or 127.0.0.1 and a compute's port. */
  portOf(address: { readonly host: string; readonly port: number }): Promise<number | undefined> | undefined
  /** Runs statements in a new session. @param begin the BEGIN of a transaction around them. @throws Postgres' error. */
  runSql(
    at: Login & { readonly port: number },
    statements: readonly Statement[],
    begin: string | undefined,
  ): Promise<readonly StatementResult[]> | undefined
  /** Where clients connect to a compute; `undefined` if it is simulated. */
  address(id: string): Promise<ComputeAddress> | undefined
  close(): Promise<void>
}

/** A statement from the service's serverless driver, which sends all values as text. */
export interface Statement {
  readonly query: string
  readonly params: readonly (string | null)[]
}

/** A result in Postgres' text format. */
export interface StatementResult {
  readonly command: string
  readonly rowCount: number | null
  readonly fields: readonly object[]
  readonly rows: readonly (readonly (string | null)[])[]
}

export interface ComputeAddress {
  readonly host: string
  /** The compute's own port. */
  readonly port: number
  /** Port of all computes. Clients name the compute by `options=endpoint%3D<id>` or by SNI. */
  readonly sharedPort: number
}

/** Why a connection is rejected, as Postgres' protocol reports it. */
export class ConnectionError extends Error {
  /** An SQLSTATE (PostgreSQL documentation, appendix A). */
  readonly sqlState: string

  constructor(sqlState: string, message: string) {
    super(message)
    this.name = 'ConnectionError'
    this.sqlState = sqlState
  }
}

/** Prepares computes for connections: starts an idle one, and waits while a compute is changing. */
export interface Gate {
  /**
   * Resolves with the spec once the compute may accept connections.
   *
   * @throws {ConnectionError} if there is no such compute, or if it cannot be started.
   */
  reach(computeId: string): Promise<ComputeSpec>
  isKnown(computeId: string): boolean
  /** Call with a branch's roles and databases before its primary stops, since they cannot be read afterwards. */
  found(branchId: string, catalog: LiveCatalog): void
}

export const NO_SUCH_COMPUTE = '08004'
export const FEATURE_NOT_SUPPORTED = '0A000'

/** The service's default version (public OpenAPI). */
const DEFAULT_VERSION = 17

/** The version for projects that do not request one. */
export const defaultVersion = (versions: readonly number[]): number =>
  versions.includes(DEFAULT_VERSION) ? DEFAULT_VERSION : Math.max(...versions)
