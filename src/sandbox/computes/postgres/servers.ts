/** Running Postgres servers and their data. Calls for the same compute must not overlap. */
import type { ComputeSpec, LiveCatalog } from '../computes.ts'
import { Queues } from '../queues.ts'
import { executeChanges, readCatalog } from './catalog.ts'
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
  /** Called when a replica can no longer replicate from its primary. */
  readonly onLostTrack: (spec: ComputeSpec) => void
  /** Called with a branch's roles and databases before its primary stops. */
  readonly onCatalog: (branchId: string, catalog: LiveCatalog) => void
}

const SECRET = 'SELECT rolpassword FROM pg_authid WHERE rolname = $1 AND rolcanlogin'

export const openServers = ({ home, data, log, onCrash, onLostTrack, onCatalog }: ServersOptions) => {
  const disks = new TempDisks()
  const poolers = new Poolers(home)
  /** Ensures that only one piece of work at a time uses the data folder of a branch. */
  const branches = new Queues()
  const running = new Map<string, RunningServer>()

  /** The running servers, filtered by branch and type if these are given. */
  const list = ({ branchId, type }: Partial<Pick<ComputeSpec, 'branchId' | 'type'>>): readonly RunningServer[] =>
    [...running.values()].filter(
      ({ spec }) => (branchId ?? spec.branchId) === spec.branchId && (type ?? spec.type) === spec.type,
    )

  const primaryOf = (branchId: string): PostgresServer | undefined => list({ branchId, type: 'read_write' })[0]?.server

  const launchPrimary = async (spec: ComputeSpec): Promise<PostgresServer> => {
    const server = await branches.run(spec.branchId, async () => serve(spec, await data.ensureBranch(spec)))
    try {
      await changeCatalog(spec, server)
    } catch (error) {
      // Do not leave the server running, because it would block the data folder.
      await server.stop()
      throw error
    }
    return server
  }

  const launchReplica = async (spec: ComputeSpec): Promise<PostgresServer> => {
    const folder = data.replica(spec.id)
    if (!data.isReplicaOf(spec.id, spec.branchId)) {
      await branches.run(spec.branchId, async () => {
        await data.ensureBranch(spec)
        await data.copyBranch(spec.branchId, primaryOf(spec.branchId), folder)
      })
      data.markReplica(spec.id, spec.branchId)
    }
    return serve(spec, folder)
  }

  const serve = async (spec: ComputeSpec, folder: string): Promise<PostgresServer> => {
    const binaries = data.binariesOf(spec)
    const server = await serveCompute(spec, folder, { home, log, binaries, onLostTrack: () => onLostTrack(spec) })
    disks.watch(folder, spec.tempDiskBytes, server.ended)
    return server
  }

  /** Executes pending changes, then stops the pooler, because a pooler reads passwords only when it starts. */
  const changeCatalog = async ({ id, changes, isLogical }: ComputeSpec, server: PostgresServer): Promise<void> => {
    await executeChanges(server, changes, isLogical)
    if (changes.length > 0) await poolers.stop(id)
  }

  const halt = async (id: string): Promise<void> => {
    const spec = running.get(id)?.spec
    if (spec?.type === 'read_write') await branches.run(spec.branchId, () => end(id))
    else await end(id)
  }

  /** For a primary, the caller must be in the branch's queue (`branches`). */
  const end = async (id: string): Promise<void> => {
    const { server, spec } = running.get(id) ?? {}
    if (server === undefined) return
    if (spec?.type === 'read_write') {
      // Failures are ignored, because the server is about to be stopped anyway.
      const found = await readCatalog(server).catch(() => undefined)
      if (found !== undefined) onCatalog(spec.branchId, found)
    }
    running.delete(id)
    await server.stop()
    await poolers.stop(id)
  }

  return {
    disks,
    poolers,
    branches,
    list,
    primaryOf,
    halt,
    end,
    get: (id: string): RunningServer | undefined => running.get(id),
    launch: async (spec: ComputeSpec): Promise<void> => {
      const server = await (spec.type === 'read_write' ? launchPrimary(spec) : launchReplica(spec))
      running.set(spec.id, { server, spec })
      void server.ended.then(() => {
        const current = running.get(spec.id)
        if (current?.server !== server) return
        running.delete(spec.id)
        onCrash(current.spec)
      })
    },
    /** Applies the settings that can be changed without a restart. */
    configure: async (spec: ComputeSpec, { server }: RunningServer): Promise<void> => {
      writeConfiguration(spec, { home, log, binaries: data.binariesOf(spec) })
      server.reload()
      running.set(spec.id, { server, spec })
      await changeCatalog(spec, server)
    },
    /** Stops a compute and, if it is a replica, deletes its data. */
    forgetData: async (id: string): Promise<void> => {
      await halt(id)
      data.remove(data.replica(id))
    },
    /** The role's SCRAM secret from `pg_authid`. */
    secretOf: async (computeId: string, role: string): Promise<string | undefined> => {
      const { server } = running.get(computeId) ?? {}
      if (server === undefined) return undefined
      const [found] = await withSession(server, (query) => query(SECRET, [role]))
      return typeof found?.rolpassword === 'string' ? found.rolpassword : undefined
    },
  }
}
