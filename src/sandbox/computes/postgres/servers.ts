/** Running Postgres servers and their data. Callers must not overlap calls for the same compute. */
import type { ComputeSpec, LiveCatalog } from '../computes.ts'
import { Queues } from '../queues.ts'
import { change, readCatalog } from './catalog.ts'
import type { DataFolders } from './data.ts'
import type { Home } from './home.ts'
import { Poolers } from './pooler.ts'
import { serveCompute } from './serve-compute.ts'
import type { PostgresServer, RunningServer } from './server.ts'
import { withSession } from './session.ts'
import { writeConfiguration } from './settings.ts'
import { TempDisks } from './temp-disk.ts'

export interface ServersOptions {
  readonly home: Home
  readonly data: DataFolders
  readonly log: (line: string) => void
  /** Called when a server ends unexpectedly. */
  readonly onCrash: (spec: ComputeSpec) => void
  /** Called when a replica can no longer follow its primary. */
  readonly onLostTrack: (spec: ComputeSpec) => void
  /** Called with a branch's roles and databases before its primary stops. */
  readonly onCatalog: (branchId: string, catalog: LiveCatalog) => void
}

const SECRET = 'SELECT rolpassword FROM pg_authid WHERE rolname = $1 AND rolcanlogin'

export class Servers {
  readonly disks = new TempDisks()
  readonly poolers: Poolers
  /** Serializes access to the data folder of each branch. */
  readonly branches = new Queues()
  readonly #options: ServersOptions
  readonly #running = new Map<string, RunningServer>()

  constructor(options: ServersOptions) {
    this.#options = options
    this.poolers = new Poolers(options.home)
  }

  get(id: string): RunningServer | undefined {
    return this.#running.get(id)
  }

  /** Filters by branch and type, if given. */
  list(filter: Partial<Pick<ComputeSpec, 'branchId' | 'type'>>): readonly RunningServer[] {
    return [...this.#running.values()].filter(
      ({ spec }) => (filter.branchId ?? spec.branchId) === spec.branchId && (filter.type ?? spec.type) === spec.type,
    )
  }

  primaryOf(branchId: string): PostgresServer | undefined {
    return this.list({ branchId, type: 'read_write' })[0]?.server
  }

  async launch(spec: ComputeSpec): Promise<void> {
    const server = spec.type === 'read_write' ? await this.#launchPrimary(spec) : await this.#launchReplica(spec)
    this.#running.set(spec.id, { server, spec })
    void server.ended.then(() => {
      const running = this.get(spec.id)
      if (running?.server !== server) return
      this.#running.delete(spec.id)
      this.#options.onCrash(running.spec)
    })
  }

  async halt(id: string): Promise<void> {
    const spec = this.get(id)?.spec
    if (spec?.type === 'read_write') await this.branches.run(spec.branchId, () => this.end(id))
    else await this.end(id)
  }

  /** For a primary, the caller must be in the branch's queue (`branches`). */
  async end(id: string): Promise<void> {
    const running = this.get(id)
    if (running === undefined) return
    const { server, spec } = running
    if (spec.type === 'read_write') await this.#reportCatalog(spec, server)
    this.#running.delete(id)
    await server.stop()
    await this.poolers.stop(id)
  }

  /** Applies what can be changed without a restart. */
  async configure(spec: ComputeSpec, { server }: RunningServer): Promise<void> {
    const { home, data, log } = this.#options
    writeConfiguration(spec, { home, log, binaries: data.binariesOf(spec) })
    server.reload()
    this.#running.set(spec.id, { server, spec })
    await this.#changeCatalog(spec, server)
  }

  /** Stops a compute and deletes its replica data, if any. */
  async forgetData(id: string): Promise<void> {
    await this.halt(id)
    const { data } = this.#options
    data.remove(data.replica(id))
  }

  /** The role's SCRAM secret from `pg_authid`. */
  async secretOf(computeId: string, role: string): Promise<string | undefined> {
    const running = this.get(computeId)
    if (running === undefined) return undefined
    const { password } = this.#options.home
    const [found] = await withSession(running.server, password, (query) => query(SECRET, [role]))
    return typeof found?.rolpassword === 'string' ? found.rolpassword : undefined
  }

  async #launchPrimary(spec: ComputeSpec): Promise<PostgresServer> {
    const server = await this.branches.run(spec.branchId, async () =>
      this.#serve(spec, await this.#options.data.ensureBranch(spec)),
    )
    try {
      await this.#changeCatalog(spec, server)
    } catch (error) {
      // Do not leave the server running: it would block the data folder.
      await server.stop()
      throw error
    }
    return server
  }

  async #launchReplica(spec: ComputeSpec): Promise<PostgresServer> {
    const { data } = this.#options
    const folder = data.replica(spec.id)
    if (!data.isReplicaOf(spec.id, spec.branchId)) {
      await this.branches.run(spec.branchId, async () => {
        await data.ensureBranch(spec)
        await data.copyBranch(spec.branchId, this.primaryOf(spec.branchId), folder)
      })
      data.markReplica(spec.id, spec.branchId)
    }
    return this.#serve(spec, folder)
  }

  async #serve(spec: ComputeSpec, folder: string): Promise<PostgresServer> {
    const { home, data, log, onLostTrack } = this.#options
    const server = await serveCompute(spec, folder, {
      home,
      log,
      binaries: data.binariesOf(spec),
      onLostTrack: () => onLostTrack(spec),
    })
    this.disks.watch(folder, spec.tempDiskBytes, server.ended)
    return server
  }

  /** Executes pending changes. A pooler must be restarted for new passwords. */
  async #changeCatalog({ id, changes, isLogical }: ComputeSpec, server: PostgresServer): Promise<void> {
    await change(server, this.#options.home.password, changes, isLogical)
    if (changes.length > 0) await this.poolers.stop(id)
  }

  /** Failures are ignored: the server is about to be stopped anyway. */
  async #reportCatalog({ branchId }: ComputeSpec, server: PostgresServer): Promise<void> {
    const found = await readCatalog(server, this.#options.home.password).catch(() => undefined)
    if (found !== undefined) this.#options.onCatalog(branchId, found)
  }
}
