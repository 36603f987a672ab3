/** Running Postgres servers and their data. Calls for the same compute must not overlap. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '../../../base/index.ts'
import type { ComputeSpec, LiveCatalog } from '../computes.ts'
import { executeChanges, readCatalog } from './catalog.ts'
import type { DataFolders } from './data.ts'
import type { Home } from './home.ts'
import { Poolers } from './pooler.ts'
import { type PostgresServer, type RunningServer, serveCompute, writeConfiguration } from './server.ts'
import { withSession } from './session.ts'

interface ServersOptions {
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

  const list = ({ branchId, type }: Partial<Pick<ComputeSpec, 'branchId' | 'type'>>): readonly RunningServer[] =>
    [...running.values()].filter(
      ({ spec }) => (branchId ?? spec.branchId) === spec.branchId && (type ?? spec.type) === spec.type,
    )

  const primaryOf = (branchId: string): PostgresServer | undefined => list({ branchId, type: 'read_write' })[0]?.server

  /** Other work on the branch's data, such as a copy, waits until the server is registered as using it. */
  const launchPrimary = (spec: ComputeSpec): Promise<void> =>
    branches.run(spec.branchId, async () => {
      const server = await serve(spec, await data.ensureBranch(spec))
      try {
        await changeCatalog(spec, server)
      } catch (error) {
        // Do not leave the server running, because it would block the data folder.
        await server.stop()
        throw error
      }
      register(spec, server)
    })

  const launchReplica = async (spec: ComputeSpec): Promise<void> => {
    const folder = data.replica(spec.id)
    if (!data.isReplicaOf(spec.id, spec.branchId)) {
      await branches.run(spec.branchId, async () => {
        await data.ensureBranch(spec)
        await data.copyBranch(spec.branchId, primaryOf(spec.branchId), folder)
      })
      data.markReplica(spec.id, spec.branchId)
    }
    register(spec, await serve(spec, folder))
  }

  const register = (spec: ComputeSpec, server: PostgresServer): void => {
    running.set(spec.id, { server, spec })
    void server.ended.then(() => {
      const current = running.get(spec.id)
      if (current?.server !== server) return
      running.delete(spec.id)
      onCrash(current.spec)
    })
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
    launch: (spec: ComputeSpec): Promise<void> =>
      spec.type === 'read_write' ? launchPrimary(spec) : launchReplica(spec),
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

// Limits the total size of a compute's temporary files (docs/reference/sandbox.md). Postgres' own limit applies to each
// session separately, whereas this limit applies to all sessions together. If it is exceeded, the queries of all
// sessions with temporary files are cancelled, as if the disk were full.

const CHECK_EVERY_MS = 200
/** How long to remember that a query was cancelled. Its session must report the error within this time. */
const REMEMBERED_MS = 2_000
/** Files such as `pgsql_tmp1234.0`, and folders `pgsql_tmp1234.0.fileset` of parallel queries. */
const SESSION_FILE = /^pgsql_tmp(\d+)\./

class TempDisks {
  /** When a session's query was cancelled, by the process id of the session. */
  readonly #stopped = new Map<number, number>()

  /** Checks a server until it ends. @param data the server's data folder. */
  watch(data: string, bytes: number, ended: Promise<unknown>): void {
    const timer = setInterval(() => this.#check(join(data, 'base', 'pgsql_tmp'), bytes), CHECK_EVERY_MS)
    timer.unref()
    void ended.then(() => clearInterval(timer))
  }

  /** Whether this session's query was just cancelled because the disk was full. */
  isFull(pid: number): boolean {
    const at = this.#stopped.get(pid)
    this.#stopped.delete(pid)
    return at !== undefined && performance.now() - at < REMEMBERED_MS
  }

  #check(folder: string, bytes: number): void {
    const sessions = new Set<number>()
    let used = 0
    for (const name of namesIn(folder)) {
      const pid = Number(SESSION_FILE.exec(name)?.[1])
      if (!(pid > 0)) continue
      sessions.add(pid)
      used += sizeOf(join(folder, name))
    }
    if (used <= bytes) return
    for (const pid of sessions) this.#stop(pid)
  }

  /** SIGINT cancels the session's running query, if any (PostgreSQL documentation, 9.28.2). */
  #stop(pid: number): void {
    this.#stopped.set(pid, performance.now())
    try {
      process.kill(pid, 'SIGINT')
    } catch {
      this.#stopped.delete(pid)
    }
  }
}

/** The size of a file, or of all files in a folder. The size of a deleted file is 0. */
const sizeOf = (path: string): number => {
  try {
    const stat = statSync(path)
    if (!stat.isDirectory()) return stat.size
    return namesIn(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
  } catch {
    return 0
  }
}

/** Runs work for the same key sequentially, and work for different keys concurrently. */
export class Queues {
  readonly #tails = new Map<string, Promise<unknown>>()

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const done = (this.#tails.get(key) ?? Promise.resolve()).then(work)
    const tail = done.catch(() => undefined)
    this.#tails.set(key, tail)
    void tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key)
    })
    return done
  }

  /** Resolves when all work queued so far for the key is done. */
  async idle(key: string): Promise<void> {
    await this.#tails.get(key)
  }

  async allIdle(): Promise<void> {
    await Promise.all(this.#tails.values())
  }
}
