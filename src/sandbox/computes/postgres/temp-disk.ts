/**
 * The disk for temporary files of one compute (docs/control-api.md). Postgres' own limit holds for a session; this one holds for all
 * sessions together: when the disk is full, the sessions that write to it are stopped, as on a real one.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '../../../base/index.ts'

const CHECK_EVERY_MS = 200
/** How long a stopped session has to report it. */
const REMEMBERED_MS = 2_000
/** `pgsql_tmp1234.0`, and folders `pgsql_tmp1234.0.fileset` of parallel queries. */
const OF_SESSION = /^pgsql_tmp(\d+)\./

export class TempDisks {
  /** When a session was stopped, by its process. */
  readonly #stopped = new Map<number, number>()

  /** Until `ended`. @param data the server's data folder. */
  watch(data: string, bytes: number, ended: Promise<unknown>): void {
    const timer = setInterval(() => this.#check(join(data, 'base', 'pgsql_tmp'), bytes), CHECK_EVERY_MS)
    timer.unref()
    void ended.then(() => clearInterval(timer))
  }

  /** Whether this session was stopped just now since the disk was full. */
  isFull(pid: number): boolean {
    const at = this.#stopped.get(pid)
    this.#stopped.delete(pid)
    return at !== undefined && performance.now() - at < REMEMBERED_MS
  }

  #check(folder: string, bytes: number): void {
    const sessions = new Set<number>()
    let used = 0
    for (const name of namesIn(folder)) {
      const pid = Number(OF_SESSION.exec(name)?.[1])
      if (!(pid > 0)) continue
      sessions.add(pid)
      used += sizeOf(join(folder, name))
    }
    if (used <= bytes) return
    for (const pid of sessions) this.#stop(pid)
  }

  /** SIGINT cancels the query that runs, and does nothing to a session without one (PostgreSQL documentation, 9.28.2). */
  #stop(pid: number): void {
    this.#stopped.set(pid, performance.now())
    try {
      process.kill(pid, 'SIGINT')
    } catch {
      this.#stopped.delete(pid)
    }
  }
}

/** Of a file, or of a folder's files; a file that was deleted since counts as empty. */
const sizeOf = (path: string): number => {
  try {
    const stat = statSync(path)
    if (!stat.isDirectory()) return stat.size
    return namesIn(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
  } catch {
    return 0
  }
}
