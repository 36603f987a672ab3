/** Computes that are Postgres: a process for each that runs, a data folder for each branch, a proxy before them. */
import { renameSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import pg from 'pg'
import {
  type Activity,
  type BranchSource,
  type ComputeAddress,
  type ComputeSpec,
  type Computes,
  type ConnectionInfo,
  ConnectionRefusal,
  type FoundCatalog,
  type Gate,
  type Login,
  type RestoreWork,
  type StatementResult,
  usualVersion,
} from '../computes.ts'
import { ConnectionLog } from '../connection-log.ts'
import { selfSigned } from '../proxy/certificate.ts'
import { type ConnectionProxy, startProxy } from '../proxy/proxy.ts'
import { type Wanted, wantedOf } from '../proxy/startup.ts'
import { Queues } from '../queues.ts'
import { change, readCatalog } from './catalog.ts'
import { DataFolders } from './data.ts'
import { type Home, type HomeOptions, openHome } from './home.ts'
import { findPgBouncer } from './pooler.ts'
import { Poolers } from './poolers.ts'
import { runSql } from './run-sql.ts'
import { dumpSchema } from './schema.ts'
import { dropRows } from './schema-only.ts'
import { serveCompute, writeConfiguration } from './serve-compute.ts'
import type { PostgresServer } from './server.ts'
import { SUPERVISOR, withSession } from './session.ts'
import { TempDisks } from './temp-disk.ts'

export interface PostgresOptions extends HomeOptions {
  readonly gate: Gate
  /** Port that all computes share; 0 takes a free one. */
  readonly port: number
  /** Whether another free port will do where `port` is taken. */
  readonly anyPort: boolean
  readonly log: (line: string) => void
}

interface Running {
  readonly server: PostgresServer
  readonly spec: ComputeSpec
}

const NOT_RUNNING = '57P03'
const POOLER_MISSING = '08004'
const INVALID_LOGIN = '28000'
const LOOPBACK = '127.0.0.1'

const ACTIVITY = `
  SELECT count(*) FILTER (WHERE state IN ('active', 'fastpath function call')) > 0 AS busy,
         extract(epoch FROM clock_timestamp() - max(state_change)) * 1000 AS quiet_ms
  FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND usename <> '${SUPERVISOR}'`

const SECRET = 'SELECT rolpassword FROM pg_authid WHERE rolname = $1 AND rolcanlogin'

/** @throws {EspalierError} `E_POSTGRES`, `E_POSTGRES_ROOT` or `E_POSTGRES_VERSION` where Postgres cannot run here. */
export const postgresComputes = async (options: PostgresOptions): Promise<PostgresComputes> => {
  const home = await openHome(options)
  try {
    const data = new DataFolders(home.root, home.versions, home.runAs, home.password)
    const computes = new PostgresComputes(options, home, data)
    await computes.listen()
    // Made while nobody waits for it; whoever needs it first hears why it could not be.
    void data.prepare(usualVersion(computes.versions)).catch(() => undefined)
    return computes
  } catch (error) {
    await home.close()
    throw error
  }
}

class PostgresComputes implements Computes {
  readonly kind = 'postgres'
  readonly #options: PostgresOptions
  readonly #home: Home
  readonly #data: DataFolders
  readonly #log = new ConnectionLog()
  readonly #disks = new TempDisks()
  /** By compute: what is done to it. */
  readonly #work = new Queues()
  /** By branch: who uses its data folder. */
  readonly #branches = new Queues()
  readonly #running = new Map<string, Running>()
  readonly #poolers: Poolers
  readonly #held = new Map<string, pg.Client>()
  #proxy: ConnectionProxy | undefined
  #closing = false

  constructor(options: PostgresOptions, home: Home, data: DataFolders) {
    this.#options = options
    this.#home = home
    this.#data = data
    this.#poolers = new Poolers(home)
  }

  async listen(): Promise<void> {
    this.#proxy = await startProxy(
      {
        reach: (wanted) => this.#reach(wanted),
        certificate: () => selfSigned(['localhost', '*.localhost', '*.aws.neon.tech', '*.sandbox.test'], Date.now()),
        isDiskFull: (pid) => this.#disks.isFull(pid),
        log: this.#log,
        refusedRole: SUPERVISOR,
        onBug: (error) => this.#options.log(`proxy  ${error instanceof Error ? error.message : String(error)}`),
        secretOf: ({ computeId }, role) => this.#secretOf(computeId, role),
      },
      this.#options,
    )
  }

  get description(): string {
    const all = [...this.#home.versions.values()].map(({ version }) => version)
    return `Postgres ${all.join(', ')}, all on port ${this.#proxy?.sharedPort}`
  }

  get versions(): readonly number[] {
    return [...this.#home.versions.keys()].sort((a, b) => a - b)
  }

  addBranch(id: string, source: BranchSource | undefined): Promise<void> {
    return this.#branches.run(source?.branchId ?? id, async () => {
      // A source without data has nothing but its roles and databases, and the branch's record has them too.
      if (source === undefined || this.#data.hasBranch(id) || !this.#data.hasBranch(source.branchId)) return
      const folder = this.#data.branch(id)
      const server = this.#primaryOf(source.branchId)
      if (!source.isSchemaOnly) return this.#data.copyBranch(source.branchId, server, folder)
      // The branch is there only once its rows are not.
      const copy = `${folder}.copy`
      await this.#data.copyBranch(source.branchId, server, copy)
      await dropRows(id, copy, this.#data.binariesFor(copy, 0), { ...this.#options, home: this.#home })
      renameSync(copy, folder)
    })
  }

  async restoreBranch(id: string, work: RestoreWork): Promise<void> {
    const { from } = work
    const own = [...this.#running].filter(([, { spec }]) => spec.branchId === id)
    await Promise.all(own.map(([computeId]) => this.stop(computeId)))
    const restore = async (): Promise<void> => {
      // A client may have woken it since.
      for (const [computeId, { spec }] of this.#running) {
        if (spec.branchId === id && spec.type === 'read_write') await this.#end(computeId)
      }
      await this.#data.restoreBranch(id, work, this.#primaryOf(from))
    }
    await this.#branches.run(id, () => (from === id ? restore() : this.#branches.run(from, restore)))
    await Promise.all(
      this.#data.replicasOf(id).map((replica) => this.#work.run(replica, () => this.#forgetData(replica))),
    )
  }

  removeBranch(id: string): Promise<void> {
    return this.#branches.run(id, async () => this.#data.remove(this.#data.branch(id)))
  }

  start(spec: ComputeSpec): Promise<void> {
    return this.#work.run(spec.id, async () => {
      if (!this.#running.has(spec.id)) await this.#launch(spec)
    })
  }

  stop(id: string): Promise<void> {
    return this.#work.run(id, () => this.#halt(id))
  }

  restart(spec: ComputeSpec): Promise<void> {
    return this.#work.run(spec.id, async () => {
      const running = this.#running.get(spec.id)
      if (running !== undefined && isDeepStrictEqual(running.spec, spec)) return
      await this.#halt(spec.id)
      await this.#launch(spec)
    })
  }

  configure(spec: ComputeSpec): Promise<void> {
    return this.#work.run(spec.id, async () => {
      const running = this.#running.get(spec.id)
      if (running === undefined) {
        // One that was active before the sandbox began would start with its first connection; this cannot wait for it.
        if (spec.changes.length > 0) await this.#launch(spec)
        return
      }
      writeConfiguration(spec, { ...this.#options, home: this.#home, binaries: this.#data.binariesOf(spec) })
      running.server.reload()
      this.#running.set(spec.id, { ...running, spec })
      await this.#changeCatalog(spec, running.server)
    })
  }

  forget(id: string): Promise<void> {
    return this.#work.run(id, async () => {
      this.#proxy?.shut(id)
      await this.#forgetData(id)
    })
  }

  async activity(id: string): Promise<Activity> {
    const running = this.#running.get(id)
    if (running === undefined) return { busy: false, lastUse: Number.NEGATIVE_INFINITY }
    return withSession(running.server, this.#home.password, async (query) => {
      // Taken before it is asked: rather a moment too early than one that was not there yet.
      const asked = performance.now()
      const [row] = await query(ACTIVITY)
      const lastUse = row?.quiet_ms === null ? Number.NEGATIVE_INFINITY : asked - Number(row?.quiet_ms)
      return { busy: row?.busy === true, lastUse }
    })
  }

  readCatalog(branchId: string): Promise<FoundCatalog> | undefined {
    const server = this.#primaryOf(branchId)
    return server === undefined ? undefined : readCatalog(server, this.#home.password)
  }

  async dumpSchema(id: string, login: Login): Promise<string> {
    const { port } = await this.address(id)
    const spec = await this.#options.gate.reach(id)
    return dumpSchema(this.#home.versions, this.#data.binariesOf(spec).major, { port, ...login })
  }

  async portOf({ host, port }: { readonly host: string; readonly port: number }): Promise<number | undefined> {
    const name = host.split('.')[0] ?? ''
    if (this.#options.gate.isKnown(wantedOf(name).computeId)) return this.#proxy?.open(name)
    return host === LOOPBACK && this.#proxy?.isOwn(port) === true ? port : undefined
  }

  runSql(...[at, statements, begin]: Parameters<Computes['runSql']>): Promise<readonly StatementResult[]> {
    return runSql({ host: LOOPBACK, ...at }, statements, begin)
  }

  async connect(id: string, login: Login | undefined): Promise<ConnectionInfo> {
    if (login === undefined) throw new ConnectionRefusal(INVALID_LOGIN, 'the branch has no role that can log in')
    const address = { ...(await this.address(id)), ...login }
    const before = new Set(this.connections().map((connection) => connection.id))
    const client = new pg.Client({ ...address, application_name: 'espalier sandbox connection' })
    client.on('error', () => undefined)
    await client.connect()
    const opened = this.connections().find(
      (connection) => connection.computeId === id && connection.closedAt === undefined && !before.has(connection.id),
    )
    if (opened === undefined) throw new Error('a connection that was opened is not known')
    this.#held.set(opened.id, client)
    return opened
  }

  disconnect(connectionId: string): void {
    void this.#held.get(connectionId)?.end()
    this.#held.delete(connectionId)
  }

  connections(): readonly ConnectionInfo[] {
    return this.#log.list()
  }

  /** A port of its own, the same one as in the last run where it is free. */
  async address(id: string): Promise<ComputeAddress> {
    if (this.#proxy === undefined) throw new Error('the proxy does not run')
    const port = await this.#proxy.open(id, this.#home.ports.get(id))
    this.#home.keepPort(id, port)
    return { host: LOOPBACK, port, sharedPort: this.#proxy.sharedPort }
  }

  async close(): Promise<void> {
    this.#closing = true
    for (const client of this.#held.values()) void client.end().catch(() => undefined)
    await this.#work.allIdle()
    // Replicas first: a primary that stops waits until they have all it wrote.
    for (const type of ['read_only', 'read_write'] as const) {
      const ids = [...this.#running].filter(([, { spec }]) => spec.type === type).map(([id]) => id)
      await Promise.all(ids.map((id) => this.stop(id)))
    }
    await this.#branches.allIdle()
    await this.#proxy?.close()
    await this.#home.close()
  }

  async #reach({ computeId, pooled }: Wanted): Promise<string> {
    const pgBouncer = pooled ? findPgBouncer() : undefined
    if (pooled && pgBouncer === undefined) {
      throw new ConnectionRefusal(
        POOLER_MISSING,
        'pooled connections need PgBouncer, which is not installed here: install it, or connect without -pooler',
      )
    }
    const spec = await this.#options.gate.reach(computeId)
    await this.#work.idle(computeId)
    // One that was active before the sandbox began runs from its first connection on.
    if (!this.#running.has(computeId)) await this.start(spec).catch(asRefusal)
    const running = this.#running.get(computeId)
    if (running === undefined) throw new ConnectionRefusal(NOT_RUNNING, 'the compute does not run: try again')
    if (pgBouncer === undefined) return running.server.socketPath
    return this.#poolers.reach(pgBouncer, running)
  }

  async #secretOf(computeId: string, role: string): Promise<string | undefined> {
    const running = this.#running.get(computeId)
    if (running === undefined) return undefined
    const [found] = await withSession(running.server, this.#home.password, (query) => query(SECRET, [role]))
    return typeof found?.rolpassword === 'string' ? found.rolpassword : undefined
  }

  #primaryOf(branchId: string): PostgresServer | undefined {
    for (const { server, spec } of this.#running.values()) {
      if (spec.type === 'read_write' && spec.branchId === branchId) return server
    }
    return undefined
  }

  async #launch(spec: ComputeSpec): Promise<void> {
    if (this.#closing) return
    const server =
      spec.type === 'read_write'
        ? await this.#branches.run(spec.branchId, async () => this.#serve(spec, await this.#data.ensureBranch(spec)))
        : await this.#launchReplica(spec)
    if (spec.type === 'read_write')
      await this.#changeCatalog(spec, server).catch((error: unknown) => this.#giveUp(server, error))
    this.#running.set(spec.id, { server, spec })
    void server.ended.then(() => this.#hasEnded(spec.id, server))
  }

  /** What was asked of the branch's roles and databases; a pooler learns of new passwords by being started again. */
  async #changeCatalog({ id, changes, isLogical }: ComputeSpec, server: PostgresServer): Promise<void> {
    await change(server, this.#home.password, changes, isLogical)
    if (changes.length > 0) await this.#poolers.stop(id)
  }

  /** A server that is not as asked must not stay behind: it would hold the data of the next one. */
  async #giveUp(server: PostgresServer, error: unknown): Promise<never> {
    await server.stop()
    throw error
  }

  async #launchReplica(spec: ComputeSpec): Promise<PostgresServer> {
    const folder = this.#data.replica(spec.id)
    if (!this.#data.isReplicaOf(spec.id, spec.branchId)) {
      await this.#branches.run(spec.branchId, async () => {
        await this.#data.ensureBranch(spec)
        await this.#data.copyBranch(spec.branchId, this.#primaryOf(spec.branchId), folder)
      })
      this.#data.markReplica(spec.id, spec.branchId)
    }
    return this.#serve(spec, folder)
  }

  async #serve(spec: ComputeSpec, data: string): Promise<PostgresServer> {
    const server = await serveCompute(spec, data, {
      home: this.#home,
      binaries: this.#data.binariesOf(spec),
      log: this.#options.log,
      onLostTrack: () => this.#copyAgain(spec),
    })
    this.#disks.watch(data, spec.tempDiskBytes, server.ended)
    return server
  }

  #copyAgain(spec: ComputeSpec): void {
    if (this.#running.get(spec.id)?.spec.branchId !== spec.branchId) return
    const copied = this.#work.run(spec.id, async () => {
      await this.#forgetData(spec.id)
      await this.#launch(spec)
    })
    this.#logFailure(spec.id, copied)
  }

  /** Of a replica, whose data is a copy. */
  async #forgetData(id: string): Promise<void> {
    await this.#halt(id)
    this.#data.remove(this.#data.replica(id))
  }

  async #halt(id: string): Promise<void> {
    const spec = this.#running.get(id)?.spec
    if (spec?.type === 'read_write') await this.#branches.run(spec.branchId, () => this.#end(id))
    else await this.#end(id)
  }

  async #end(id: string): Promise<void> {
    const running = this.#running.get(id)
    if (running === undefined) return
    const { server, spec } = running
    if (spec.type === 'read_write') await this.#tellCatalog(spec, server)
    this.#running.delete(id)
    await server.stop()
    await this.#poolers.stop(id)
  }

  /** Nobody can ask a server that has stopped; one that cannot answer stops all the same. */
  async #tellCatalog({ branchId }: ComputeSpec, server: PostgresServer): Promise<void> {
    const found = await readCatalog(server, this.#home.password).catch(() => undefined)
    if (found !== undefined) this.#options.gate.found(branchId, found)
  }

  /** A server that ended though nobody stopped it runs again, as the service keeps its computes running. */
  #hasEnded(id: string, server: PostgresServer): void {
    const running = this.#running.get(id)
    if (this.#closing || running?.server !== server) return
    this.#running.delete(id)
    this.#options.log(`postgres  ${id}  ended by itself; started again`)
    this.#logFailure(id, this.start(running.spec))
  }

  /** Of what nobody waits for. */
  #logFailure(id: string, work: Promise<void>): void {
    void work.catch((error: unknown) => {
      this.#options.log(`postgres  ${id}  ${error instanceof Error ? error.message : String(error)}`)
    })
  }
}

/** A client is told why it cannot connect, in Postgres' words. */
const asRefusal = (error: unknown): never => {
  throw new ConnectionRefusal(NOT_RUNNING, error instanceof Error ? error.message : String(error))
}
