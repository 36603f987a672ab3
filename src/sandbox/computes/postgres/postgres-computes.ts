/** Real computes: a server process per running compute, a data folder per branch, and a proxy in front. */
import { renameSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { messageOf } from '../../../base/index.ts'
import {
  type Activity,
  type BranchSource,
  type ComputeAddress,
  type ComputeSpec,
  type Computes,
  type ConnectionInfo,
  ConnectionRefusal,
  defaultVersion,
  type Gate,
  type LiveCatalog,
  type Login,
  type RestoreWork,
  type StatementResult,
} from '../computes.ts'
import type { SharedPort } from '../proxy/proxy.ts'
import type { Target } from '../proxy/startup.ts'
import { Queues } from '../queues.ts'
import { readCatalog } from './catalog.ts'
import { type Clients, LOOPBACK, listenForClients } from './clients.ts'
import { DataFolders } from './data.ts'
import { type Home, type HomeOptions, openHome } from './home.ts'
import { findPgBouncer } from './pooler.ts'
import { runSql } from './run-sql.ts'
import { dumpSchema } from './schema.ts'
import { dropRows } from './schema-only.ts'
import { Servers } from './servers.ts'
import { SUPERVISOR, withSession } from './session.ts'

export interface PostgresOptions extends HomeOptions, SharedPort {
  readonly gate: Gate
  readonly log: (line: string) => void
}

const NOT_RUNNING = '57P03'
const POOLER_MISSING = '08004'

const ACTIVITY = `
  SELECT count(*) FILTER (WHERE state IN ('active', 'fastpath function call')) > 0 AS busy,
         extract(epoch FROM clock_timestamp() - max(state_change)) * 1000 AS quiet_ms
  FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND usename <> '${SUPERVISOR}'`

/** @throws {EspalierError} `E_POSTGRES`, `E_POSTGRES_ROOT` or `E_POSTGRES_VERSION` if Postgres cannot run here. */
export const postgresComputes = async (options: PostgresOptions): Promise<Computes> => {
  const home = await openHome(options)
  try {
    const data = new DataFolders(home.root, home.versions, home.runAs, home.password)
    const servers = new Servers({
      home,
      data,
      log: options.log,
      onCrash: (spec) => computes.startAgain(spec),
      onLostTrack: (spec) => computes.copyAgain(spec),
      onCatalog: (branchId, catalog) => options.gate.found(branchId, catalog),
    })
    const clients = await listenForClients({
      ...options,
      home,
      reach: (target) => computes.reach(target),
      isDiskFull: (pid) => servers.disks.isFull(pid),
      secretOf: ({ computeId }, role) => servers.secretOf(computeId, role),
    })
    const computes = new PostgresComputes({ options, home, data, servers, clients })
    // Created in advance. If it fails, the first branch that needs it reports the error.
    void data.prepare(defaultVersion(computes.versions)).catch(() => undefined)
    return computes
  } catch (error) {
    await home.close()
    throw error
  }
}

interface Parts {
  readonly options: PostgresOptions
  readonly home: Home
  readonly data: DataFolders
  readonly servers: Servers
  readonly clients: Clients
}

class PostgresComputes implements Computes {
  readonly kind = 'postgres'
  readonly #options: PostgresOptions
  readonly #home: Home
  readonly #data: DataFolders
  readonly #servers: Servers
  readonly #clients: Clients
  /** Work in progress, by compute. */
  readonly #work = new Queues()
  #closing = false

  constructor({ options, home, data, servers, clients }: Parts) {
    this.#options = options
    this.#home = home
    this.#data = data
    this.#servers = servers
    this.#clients = clients
  }

  get description(): string {
    const all = [...this.#home.versions.values()].map(({ version }) => version)
    return `Postgres ${all.join(', ')}, all on port ${this.#clients.sharedPort}`
  }

  get versions(): readonly number[] {
    return [...this.#home.versions.keys()].sort((a, b) => a - b)
  }

  addBranch(id: string, source: BranchSource | undefined): Promise<void> {
    return this.#servers.branches.run(source?.branchId ?? id, async () => {
      // A source without data has only roles and databases, and the branch's record already has those.
      if (source === undefined || this.#data.hasBranch(id) || !this.#data.hasBranch(source.branchId)) return
      const folder = this.#data.branch(id)
      const server = this.#servers.primaryOf(source.branchId)
      if (!source.isSchemaOnly) return this.#data.copyBranch(source.branchId, server, folder)
      // The branch must not exist before its rows are removed.
      const copy = `${folder}.copy`
      await this.#data.copyBranch(source.branchId, server, copy)
      await dropRows(id, copy, this.#data.binariesFor(copy, 0), { ...this.#options, home: this.#home })
      renameSync(copy, folder)
    })
  }

  async restoreBranch(id: string, work: RestoreWork): Promise<void> {
    const { from } = work
    const { branches } = this.#servers
    await Promise.all(this.#servers.list({ branchId: id }).map(({ spec }) => this.stop(spec.id)))
    const restore = async (): Promise<void> => {
      // A client may have started it again.
      for (const { spec } of this.#servers.list({ branchId: id, type: 'read_write' })) await this.#servers.end(spec.id)
      await this.#data.restoreBranch(id, work, this.#servers.primaryOf(from))
    }
    await branches.run(id, () => (from === id ? restore() : branches.run(from, restore)))
    const replicas = this.#data.replicasOf(id)
    await Promise.all(replicas.map((replica) => this.#work.run(replica, () => this.#servers.forgetData(replica))))
  }

  removeBranch(id: string): Promise<void> {
    return this.#servers.branches.run(id, async () => this.#data.remove(this.#data.branch(id)))
  }

  start(spec: ComputeSpec): Promise<void> {
    return this.#work.run(spec.id, async () => {
      if (this.#servers.get(spec.id) === undefined) await this.#launch(spec)
    })
  }

  stop(id: string): Promise<void> {
    return this.#work.run(id, () => this.#servers.halt(id))
  }

  restart(spec: ComputeSpec): Promise<void> {
    return this.#work.run(spec.id, async () => {
      const running = this.#servers.get(spec.id)
      if (running !== undefined && isDeepStrictEqual(running.spec, spec)) return
      await this.#servers.halt(spec.id)
      await this.#launch(spec)
    })
  }

  configure(spec: ComputeSpec): Promise<void> {
    return this.#work.run(spec.id, async () => {
      const running = this.#servers.get(spec.id)
      if (running !== undefined) await this.#servers.configure(spec, running)
      // A compute that was active before the sandbox started is launched by its first connection. Changes cannot wait
      // for it.
      else if (spec.changes.length > 0) await this.#launch(spec)
    })
  }

  forget(id: string): Promise<void> {
    return this.#work.run(id, async () => {
      this.#clients.shut(id)
      await this.#servers.forgetData(id)
    })
  }

  async activity(id: string): Promise<Activity> {
    const running = this.#servers.get(id)
    if (running === undefined) return { busy: false, lastUse: Number.NEGATIVE_INFINITY }
    return withSession(running.server, this.#home.password, async (query) => {
      // Taken before the query: better slightly too early than too late.
      const asked = performance.now()
      const [row] = await query(ACTIVITY)
      const lastUse = row?.quiet_ms === null ? Number.NEGATIVE_INFINITY : asked - Number(row?.quiet_ms)
      return { busy: row?.busy === true, lastUse }
    })
  }

  readCatalog(branchId: string): Promise<LiveCatalog> | undefined {
    const server = this.#servers.primaryOf(branchId)
    return server === undefined ? undefined : readCatalog(server, this.#home.password)
  }

  async dumpSchema(id: string, login: Login): Promise<string> {
    const { port } = await this.address(id)
    const spec = await this.#options.gate.reach(id)
    return dumpSchema(this.#home.versions, this.#data.binariesOf(spec).major, { port, ...login })
  }

  portOf(address: { readonly host: string; readonly port: number }): Promise<number | undefined> {
    return this.#clients.portOf(address)
  }

  runSql(...[at, statements, begin]: Parameters<Computes['runSql']>): Promise<readonly StatementResult[]> {
    return runSql({ host: LOOPBACK, ...at }, statements, begin)
  }

  connect(id: string, login: Login | undefined): Promise<ConnectionInfo> {
    return this.#clients.connect(id, login)
  }

  disconnect(connectionId: string): void {
    this.#clients.disconnect(connectionId)
  }

  connections(): readonly ConnectionInfo[] {
    return this.#clients.connections()
  }

  address(id: string): Promise<ComputeAddress> {
    return this.#clients.address(id)
  }

  async close(): Promise<void> {
    this.#closing = true
    this.#clients.endHeld()
    await this.#work.allIdle()
    // Replicas first: a primary waits on shutdown until its replicas have all of its WAL.
    for (const type of ['read_only', 'read_write'] as const) {
      await Promise.all(this.#servers.list({ type }).map(({ spec }) => this.stop(spec.id)))
    }
    await this.#servers.branches.allIdle()
    await this.#clients.close()
    await this.#home.close()
  }

  /** Returns the socket of a compute's server or pooler once it accepts connections. */
  async reach({ computeId, pooled }: Target): Promise<string> {
    const pgBouncer = pooled ? findPgBouncer() : undefined
    if (pooled && pgBouncer === undefined) {
      throw new ConnectionRefusal(
        POOLER_MISSING,
        'pooled connections need PgBouncer, which is not installed: install it, or connect without -pooler',
      )
    }
    const spec = await this.#options.gate.reach(computeId)
    await this.#work.idle(computeId)
    // A compute that was active before the sandbox started is launched by its first connection.
    if (this.#servers.get(computeId) === undefined) await this.start(spec).catch(asRefusal)
    const running = this.#servers.get(computeId)
    if (running === undefined) throw new ConnectionRefusal(NOT_RUNNING, 'the compute is not running: try again')
    if (pgBouncer === undefined) return running.server.socketPath
    return this.#servers.poolers.reach(pgBouncer, running)
  }

  async #launch(spec: ComputeSpec): Promise<void> {
    if (!this.#closing) await this.#servers.launch(spec)
  }

  /** For a replica that can no longer follow its primary. */
  copyAgain(spec: ComputeSpec): void {
    if (this.#servers.get(spec.id)?.spec.branchId !== spec.branchId) return
    const copied = this.#work.run(spec.id, async () => {
      await this.#servers.forgetData(spec.id)
      await this.#launch(spec)
    })
    this.#logFailure(spec.id, copied)
  }

  /** For a server that crashed: the service restarts its computes too. */
  startAgain(spec: ComputeSpec): void {
    if (this.#closing) return
    this.#options.log(`postgres  ${spec.id}  crashed; restarting it`)
    this.#logFailure(spec.id, this.start(spec))
  }

  #logFailure(id: string, work: Promise<void>): void {
    void work.catch((error: unknown) => {
      this.#options.log(`postgres  ${id}  ${messageOf(error)}`)
    })
  }
}

/** Reports the failed start of a compute to the client. */
const asRefusal = (error: unknown): never => {
  throw new ConnectionRefusal(NOT_RUNNING, messageOf(error))
}
