/** The compute backend: nothing but their states, or real Postgres. The world knows it only by this. */

/** Who may log in, and what to; passwords are the branch's own. */
export interface BranchCatalog {
  readonly roles: readonly { readonly name: string; readonly password?: string; readonly canLogin: boolean }[]
  readonly databases: readonly { readonly name: string; readonly owner: string }[]
}

/** What must become of a role or a database; what is so already is left alone. */
export type CatalogChange =
  | { readonly kind: 'put-role'; readonly role: BranchCatalog['roles'][number] }
  | { readonly kind: 'drop-role'; readonly name: string }
  | { readonly kind: 'put-database'; readonly name: string; readonly owner: string }
  | { readonly kind: 'rename-database'; readonly name: string; readonly to: string }
  | { readonly kind: 'drop-database'; readonly name: string }

/** As Postgres has it. */
export interface FoundCatalog {
  readonly roles: readonly {
    readonly name: string
    readonly canLogin: boolean
    /** Whether this is the password's SCRAM secret; false if it was changed by SQL, or there is none. */
    readonly hasPassword: (password: string) => boolean
  }[]
  readonly databases: BranchCatalog['databases']
}

/** A role that logs in to a database. */
export interface Login {
  readonly user: string
  readonly password: string
  readonly database: string
}

/** What a compute must be to run. */
export interface ComputeSpec {
  readonly id: string
  readonly branchId: string
  readonly type: 'read_write' | 'read_only'
  readonly maxConnections: number
  /** What temporary files may take, in bytes (docs/control-api.md). */
  readonly tempDiskBytes: number
  /** Postgres settings by name. */
  readonly settings: Readonly<Record<string, string>>
  /** Libraries to load at the start. */
  readonly libraries: readonly string[]
  /** Postgres' major version. */
  readonly pgVersion: number
  /** `wal_level = logical`, and roles that may replicate. */
  readonly isLogical: boolean
  /** What a branch without data starts with. */
  readonly catalog: BranchCatalog
  /** What was asked of the branch's roles and databases since, oldest first; a primary carries it out. */
  readonly changes: readonly CatalogChange[]
}

/** A client's connection, as long as the sandbox remembers it. */
export interface ConnectionInfo {
  readonly id: string
  readonly computeId: string
  /** Milliseconds since the epoch, of the machine's clock. */
  readonly openedAt: number
  /** Absent while it is open. */
  readonly closedAt?: number
}

export interface Activity {
  /** Whether a query runs right now. */
  readonly busy: boolean
  /** When a client last did something, as `performance.now()` counts; `-Infinity` where none ever did. */
  readonly lastUse: number
}

export interface BranchSource {
  readonly branchId: string
  /** The tables of its databases come without their rows. */
  readonly isSchemaOnly: boolean
}

export interface RestoreWork {
  /** Unlike that of any other restore: one that was cut off is done again, and one that was done is not. */
  readonly id: string
  readonly from: string
  readonly preserveAs?: string
}

/**
 * Every promise is settled once the work is done; `undefined` says that there was none. Each call may be made again:
 * what is so already is left alone. Calls for one compute are carried out in their order.
 */
export interface Computes {
  readonly kind: 'postgres' | 'simulated'
  /** For a person: what it is, and where clients find it. */
  readonly description: string
  /** Postgres' major versions that a project can have. */
  readonly versions: readonly number[]
  /** A branch with another one's data as of now; without a source, with none. */
  addBranch(id: string, source: BranchSource | undefined): Promise<void> | undefined
  /**
   * Gives a branch the data of another one as of now. What it had is kept as the branch `preserveAs`, if that is
   * named. Its computes run again from the next connection on.
   */
  restoreBranch(id: string, work: RestoreWork): Promise<void> | undefined
  removeBranch(id: string): Promise<void> | undefined
  /** Runs, and takes connections. */
  start(spec: ComputeSpec): Promise<void> | undefined
  /** Connections end with SQLSTATE 57P01. */
  stop(id: string): Promise<void> | undefined
  /** Runs as asked; nothing happens if it does so already. */
  restart(spec: ComputeSpec): Promise<void> | undefined
  /** Takes up what can be taken up without a restart. */
  configure(spec: ComputeSpec): Promise<void> | undefined
  /** The compute is deleted for good. */
  forget(id: string): Promise<void> | undefined
  activity(id: string): Promise<Activity> | undefined
  /** Opens a connection that the sandbox itself holds; a compute that is idle wakes. */
  connect(id: string, login: Login | undefined): Promise<ConnectionInfo>
  disconnect(connectionId: string): void
  /** Those that are open, and the last ones that ended. */
  connections(): readonly ConnectionInfo[]
  /** The roles and databases of a branch whose primary runs; `undefined` if none does. */
  readCatalog(branchId: string): Promise<FoundCatalog | undefined> | undefined
  /** `pg_dump --schema-only`; a compute that is idle wakes. `undefined` if nothing is behind it. */
  dumpSchema(id: string, login: Login): Promise<string> | undefined
  /** The port on 127.0.0.1 behind an address as a client has it: a compute's host name, or its own port. */
  portOf(address: { readonly host: string; readonly port: number }): Promise<number | undefined> | undefined
  /** Runs in a separate session, in a transaction if one is begun. @throws Postgres' error. */
  runSql(
    at: Login & { readonly port: number },
    statements: readonly Statement[],
    begin: string | undefined,
  ): Promise<readonly StatementResult[]> | undefined
  /** How clients reach a compute; `undefined` if nothing listens. */
  address(id: string): Promise<ComputeAddress> | undefined
  close(): Promise<void>
}

/** A statement as the service's serverless driver sends it: values are text. */
export interface Statement {
  readonly query: string
  readonly params: readonly (string | null)[]
}

/** What came of it, in Postgres' text form. */
export interface StatementResult {
  readonly command: string
  readonly rowCount: number | null
  readonly fields: readonly object[]
  readonly rows: readonly (readonly (string | null)[])[]
}

export interface ComputeAddress {
  readonly host: string
  /** Of this compute alone. */
  readonly port: number
  /** Shared by all: the compute is named by `options=endpoint%3D<id>` or by SNI. */
  readonly sharedPort: number
}

/** Why a client cannot have a connection, as Postgres' protocol reports it. */
export class ConnectionRefusal extends Error {
  /** Five characters (Postgres documentation, appendix A). */
  readonly sqlState: string

  constructor(sqlState: string, message: string) {
    super(message)
    this.name = 'ConnectionRefusal'
    this.sqlState = sqlState
  }
}

/** Makes a compute take connections: wakes it, or waits while it changes. */
export interface Gate {
  /**
   * Resolves once it may take connections, with what it must be.
   *
   * @throws {ConnectionRefusal} if there is no such compute, or it may not wake.
   */
  reach(computeId: string): Promise<ComputeSpec>
  isKnown(computeId: string): boolean
  /** Takes what a branch has just before its primary stops; nobody can ask it then. */
  found(branchId: string, catalog: FoundCatalog): void
}

export const NO_SUCH_COMPUTE = '08004'
export const FEATURE_NOT_SUPPORTED = '0A000'

/** The service's choice where a request names no version (public OpenAPI). */
const USUAL_VERSION = 17

/** The version to use if none is named, of those that are there. */
export const usualVersion = (versions: readonly number[]): number =>
  versions.includes(USUAL_VERSION) ? USUAL_VERSION : Math.max(...versions)
