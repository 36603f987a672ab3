/**
 * Limits the total size of a compute's temporary files (docs/sandbox.md). Postgres' own limit applies to each
 * session separately, whereas this limit applies to all sessions together. If it is exceeded, the queries of all
 * sessions with temporary files are cancelled, as if the disk were full.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '../../../base/index.ts'

const CHECK_EVERY_MS = 200
/** How long to remember that a query was cancelled. Its session must report the error within this time. */
const REMEMBERED_MS = 2_000
/** Files such as `pgsql_tmp1234.0`, and folders `pgsql_tmp1234.0.fileset` of parallel queries. */
const SESSION_FILE = /^pgsql_tmp(\d+)\./

export class TempDisks {
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
