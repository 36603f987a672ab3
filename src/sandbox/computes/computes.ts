/** The interface of the two compute backends, which either simulate computes or run real Postgres servers. */

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

/** The roles and databases that exist in Postgres. */
export interface LiveCatalog {
  readonly roles: readonly {
    readonly name: string
    readonly canLogin: boolean
    /** Whether this is the role's password. False if the password was changed with SQL, or if the role has none. */
    readonly hasPassword: (password: string) => boolean
  }[]
  readonly databases: BranchCatalog['databases']
}

export interface Login {
  readonly user: string
  readonly password: string
  readonly database: string
}

/** The configuration with which a compute must run. */
export interface ComputeSpec {
  readonly id: string
  readonly branchId: string
  readonly type: 'read_write' | 'read_only'
  /** In CU. A change restarts the compute, even if nothing else changes. */
  readonly size: { readonly min: number; readonly max: number }
  /** The current size in CU. */
  readonly cu: number
  readonly maxConnections: number
  /** The limit for the total size of all temporary files, in bytes (docs/reference/sandbox.md). */
  readonly tempDiskBytes: number
  readonly settings: Readonly<Record<string, string>>
  /** Value of `shared_preload_libraries`. */
  readonly libraries: readonly string[]
  readonly pgVersion: number
  /** Whether logical replication is enabled, which means that `wal_level` is `logical` and roles may replicate. */
  readonly isLogical: boolean
  /** The roles and databases with which the data of a branch is created, if it has none yet. */
  readonly catalog: BranchCatalog
  /** The pending changes to roles and databases, oldest first. The primary executes them. */
  readonly changes: readonly CatalogChange[]
}

/** A connection that is open or was closed recently. */
export interface ConnectionInfo {
  readonly id: string
  readonly computeId: string
  /** Milliseconds since the epoch, by the system clock. */
  readonly openedAt: number
  /** Absent while the connection is open. */
  readonly closedAt?: number
}

export interface Activity {
  readonly busy: boolean
  /** How many backends, including parallel workers, are running on a processor. */
  readonly load: number
  /** When a client was last active, as a value of `performance.now()`, or `-Infinity` if no client was active. */
  readonly lastUse: number
}

export interface BranchSource {
  readonly branchId: string
  /** Whether to copy tables without their rows. */
  readonly isSchemaOnly: boolean
}

export interface RestoreWork {
  /** Identifies the restore, so that a restore that was interrupted is repeated, but one that has finished is not. */
  readonly id: string
  readonly from: string
  readonly preserveAs?: string | undefined
}

/**
 * The functions start work. The promise that a function returns settles when the work is done. `undefined`, or no such
 * function, means that there is no work to do. All calls are idempotent. Calls for the same compute run one after the other.
 */
export interface Computes {
  readonly kind: 'postgres' | 'simulated'
  /** For display: the kind of computes, and where clients connect. */
  readonly description: string
  readonly versions: readonly number[]
  /** Creates a branch with the current data of its source, or without data. */
  addBranch?(id: string, source: BranchSource | undefined): Promise<void> | undefined
  /**
   * Replaces the data of a branch with the current data of another branch. If `preserveAs` is given, the branch with
   * this id receives the old data. The computes of the branch are stopped, and the next connection starts them again.
   */
  restoreBranch?(id: string, work: RestoreWork): Promise<void> | undefined
  removeBranch?(id: string): Promise<void> | undefined
  start?(spec: ComputeSpec): Promise<void> | undefined
  /** Stops a compute. Its connections end with SQLSTATE 57P01. */
  stop(id: string): Promise<void> | undefined
  /**
   * Checks that the data is available and that the compute can start. An idle primary runs only for the check, unless a
   * client needs it in the meantime. Then the promise resolves with `SKIPPED`, as it does for an idle replica.
   */
  check?(spec: ComputeSpec): Promise<typeof SKIPPED | undefined> | undefined
  /** Restarts a compute, unless it is already running with this spec. */
  restart(spec: ComputeSpec): Promise<void> | undefined
  /** Applies the settings that can be changed without a restart. */
  configure?(spec: ComputeSpec): Promise<void> | undefined
  /** Applies the current size of a spec to a running compute, without a restart. */
  resize?(spec: ComputeSpec): Promise<void> | undefined
  /** Call when the compute is deleted. */
  forget(id: string): Promise<void> | undefined
  /** Forgets the computes that were deleted just before the sandbox was killed. */
  prune?(): void
  activity?(id: string): Promise<Activity> | undefined
  /** Opens a connection for the sandbox itself. Starts the compute if it is idle. */
  connect(id: string, login: Login | undefined): Promise<ConnectionInfo>
  disconnect(connectionId: string): void
  connections(): readonly ConnectionInfo[]
  /**
   * Reads the roles and databases of a branch. Returns `undefined` if its primary is not running. While the primary is
   * stopping or restarting, waits for it. @throws {ConnectionError} if it does not respond after 10 seconds.
   */
  readCatalog?(branchId: string): Promise<LiveCatalog | undefined> | undefined
  /**
   * The output of `pg_dump --schema-only`, or `undefined` for a simulated compute. Starts the compute if it is idle.
   */
  dumpSchema?(id: string, login: Login): Promise<string> | undefined
  /**
   * The port on 127.0.0.1 for an address that a client gave: either a host name whose first label is the id of a
   * compute, or 127.0.0.1 and a compute's port. Clients are connected to this port and never to the host itself.
   */
  portOf?(address: { readonly host: string; readonly port: number }): Promise<number | undefined> | undefined
  /** Runs statements in a new session. @param begin the BEGIN of a transaction around them. @throws Postgres' error. */
  runSql?(
    at: Login & { readonly port: number },
    statements: readonly Statement[],
    begin: string | undefined,
  ): Promise<readonly StatementResult[]> | undefined
  /** The address at which clients connect to a compute, or `undefined` if the compute is simulated. */
  address?(id: string): Promise<ComputeAddress> | undefined
  close(): Promise<void>
}

/** The result of work that was not needed. */
export const SKIPPED = 'skipped'

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
  /** The port that all computes share. Clients name their compute with `options=endpoint%3D<id>` or with SNI. */
  readonly sharedPort: number
  readonly hasPooler: boolean
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

/** Prepares computes for connections: starts a compute if it is idle, and waits while it is changing. */
export interface Gate {
  /**
   * Resolves with the spec of the compute as soon as the compute may accept connections.
   *
   * @throws {ConnectionError} if there is no such compute, or if it cannot be started.
   */
  reach(computeId: string): Promise<ComputeSpec>
  isKnown(computeId: string): boolean
  /** Call this with a branch's roles and databases before its primary stops, because they cannot be read afterwards. */
  found(branchId: string, catalog: LiveCatalog): void
}

/** Connections that are reserved for superusers (docs of the service, connection limits). */
export const RESERVED_CONNECTIONS = 7

export const NO_SUCH_COMPUTE = '08004'
export const TOO_MANY_CONNECTIONS = '53300'
export const ADMIN_SHUTDOWN = '57P01'
export const CANNOT_CONNECT_NOW = '57P03'
export const POOLER_MISSING = 'pooled connections need PgBouncer, which is not installed'
export const FEATURE_NOT_SUPPORTED = '0A000'

/** The service's default version (public OpenAPI). */
const DEFAULT_VERSION = 17

/** The version for projects that do not request one. */
export const defaultVersion = (versions: readonly number[]): number =>
  versions.includes(DEFAULT_VERSION) ? DEFAULT_VERSION : Math.max(...versions)

// Postgres settings that affect the machine rather than the database. Clients are not allowed to set them.

/** Settings that run programs, load libraries, open files or sockets, or set permissions. */
const MACHINE_SETTINGS = [
  /^include/,
  /(?<!^search)_(command|library|libraries|path|director(y|ies)|destdir|dir|file|keyfile|filename|conninfo|provider)$/,
  /^(ssl|unix_socket_.*|listen_addresses|port|bonjour.*|log_destination|logging_collector|log_file_mode)$/,
  /^(syslog_.*|event_source|allow_.*)$/,
  // Code that runs when a session starts, in languages that can access the machine.
  /^pl(perl|python|tcl)\w*\./,
]

/** Names of settings are case-insensitive. */
export const isMachineSetting = (setting: string): boolean =>
  MACHINE_SETTINGS.some((names) => names.test(setting.toLowerCase()))
