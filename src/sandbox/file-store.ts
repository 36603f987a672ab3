/**
 * Stores the state in a snapshot and a write-ahead log. Each line of the log is one transaction. If the process is
 * killed while it writes a line, the incomplete line is dropped, because its transaction was never acknowledged. fsync
 * is not used. Data survives if the process is killed, but a sandbox does not have to survive a power failure.
 */
import {
  closeSync,
  existsSync,
  ftruncateSync,
  linkSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { EspalierError, isAlive, makeStateFolder, readIfPresent } from '../base/index.ts'
import { type Store, type WorldChange, worldChange } from './world/records.ts'
import { Tables } from './world/tables.ts'

/** The size at which the log is compacted into the snapshot. If the snapshot is larger, its size is used instead. */
const COMPACT_AT_BYTES = 16 * 1024 * 1024

export interface OpenedStore {
  /** Warnings about files that other users of the machine can read. */
  readonly warnings: readonly string[]
  readonly store: Store
  readonly apiKey: string | undefined
  /** The digest of the seed that the state was made from. */
  readonly seedDigest: string | undefined
  /** Everything that is stored, oldest first. */
  readonly read: () => readonly WorldChange[]
  /**
   * Call this when the world has been loaded. It writes a snapshot of `dump` and empties the log, now and each time the
   * log has grown too large.
   */
  readonly begin: (dump: () => Iterable<WorldChange>) => void
  readonly storeKey: (apiKey: string) => void
  readonly storeSeedDigest: (digest: string) => void
}

/** @throws {EspalierError} `E_SANDBOX_STATE` if another sandbox uses the folder, or if it is not writable. */
export const openFileStore = (directory: string): OpenedStore => {
  const path = (name: string): string => join(directory, name)
  const [unlock, log] = orUnusable(directory, () => {
    makeStateFolder(directory, FOLDER_MODE)
    return [takeLock(directory), openSync(path('log.jsonl'), 'a+', 0o600)] as const
  })
  let size = 0
  let compactAt = COMPACT_AT_BYTES
  let dump: (() => Iterable<WorldChange>) | undefined

  const compact = (all: Iterable<WorldChange>): void => {
    const snapshot = openSync(path('snapshot.tmp'), 'w', 0o600)
    for (const change of all) writeWhole(snapshot, [change])
    closeSync(snapshot)
    renameSync(path('snapshot.tmp'), path('snapshot.jsonl'))
    // It does no harm if the process is killed before the next statement, because the new snapshot already includes the
    // log, and replaying the log on it changes nothing.
    ftruncateSync(log)
    size = 0
    compactAt = Math.max(COMPACT_AT_BYTES, statSync(path('snapshot.jsonl')).size)
  }

  return {
    warnings: [directory, path('key')].flatMap(readableByOthers),
    apiKey: readIfPresent(path('key'))?.trim(),
    seedDigest: readIfPresent(path('seed'))?.trim(),
    read: () => {
      const tables = new Tables()
      return ['snapshot.jsonl', 'log.jsonl'].flatMap((name) => [...readLines(path(name), tables)])
    },
    storeKey: (apiKey) => writeFileSync(path('key'), `${apiKey}\n`, { mode: 0o600 }),
    storeSeedDigest: (digest) => writeFileSync(path('seed'), `${digest}\n`, { mode: 0o600 }),
    begin: (all) => {
      dump = all
      compact(all())
    },
    store: {
      append: (transaction) => {
        try {
          size += writeWhole(log, transaction)
        } catch (cause) {
          // Remove the incomplete line. Otherwise, the next transaction would be appended to it.
          ftruncateSync(log, size)
          throw new EspalierError('E_SANDBOX_STATE', `The sandbox cannot write to ${directory}.`, { cause })
        }
        if (size <= compactAt) return
        // Wait until `append` has returned, because only then is this transaction applied to the tables, and the
        // snapshot must include it.
        compactAt = Number.POSITIVE_INFINITY
        queueMicrotask(() => dump !== undefined && compact(dump()))
      },
      replace: compact,
      close: () => {
        closeSync(log)
        unlock()
      },
    },
  }
}

/** Postgres may run as another user, who must be able to enter the folder. Other users must not be able to list it. */
const FOLDER_MODE = 0o711

const READABLE_BY_OTHERS = 0o044

const readableByOthers = (path: string): readonly string[] => {
  // Windows has no such permission bits.
  if (process.platform === 'win32' || !existsSync(path) || (statSync(path).mode & READABLE_BY_OTHERS) === 0) return []
  return [`Other users of this machine can read ${path}: chmod go-r ${path}`]
}

const orUnusable = <T>(directory: string, use: () => T): T => {
  try {
    return use()
  } catch (cause) {
    if (cause instanceof EspalierError) throw cause
    throw new EspalierError('E_SANDBOX_STATE', `The sandbox cannot store its state in ${directory}.`, {
      hint: 'Choose a folder that you can write to.',
      cause,
    })
  }
}

/** Writes the whole transaction, and returns the number of bytes. Throws if not all of them could be written. */
const writeWhole = (file: number, transaction: readonly WorldChange[]): number => {
  const line = Buffer.from(`${JSON.stringify(transaction)}\n`)
  for (let written = 0; written < line.length; ) written += writeSync(file, line, written)
  return line.length
}

/** @param tables what the lines before have stored, against which each line is checked. */
function* readLines(file: string, tables: Tables): Iterable<WorldChange> {
  if (!existsSync(file)) return
  const lines = readFileSync(file, 'utf8').split('\n')
  // The text after the last newline is either empty or incomplete, because the process was killed.
  lines.pop()
  for (const [index, line] of lines.entries()) yield* parseLine(line, `${file}:${index + 1}`, tables)
}

const transaction = z.array(worldChange)

const parseLine = (line: string, where: string, tables: Tables): readonly WorldChange[] => {
  try {
    const changes = JSON.parse(line)
    transaction.parse(changes)
    for (const change of changes) tables.apply(change)
    return changes
  } catch (cause) {
    throw new EspalierError('E_SANDBOX_STATE', `The sandbox's state is damaged at ${where}.`, {
      hint: 'Delete the folder to start over from the seed.',
      cause,
    })
  }
}

// A lock file that contains a process id. It ensures that only one sandbox at a time uses a folder.

/**
 * The folders that this process has locked. Their lock files contain this process's id, but an earlier process that had
 * the same id may have left such files too.
 */
const heldHere = new Set<string>()

/**
 * Locks the folder, unless a running process holds the lock. Returns a function that releases it.
 *
 * @throws {EspalierError} `E_SANDBOX_STATE` if another sandbox uses the folder.
 */
const takeLock = (directory: string): (() => void) => {
  const lock = join(directory, 'lock')
  const held = realpathSync(directory)
  if (heldHere.has(held)) throw inUse(directory, process.pid)
  // Write a separate file and link it, so that no other process reads a lock file that has no process id yet.
  const own = `${lock}.${process.pid}`
  writeFileSync(own, `${process.pid}\n`, { mode: 0o600 })
  try {
    while (!tryLink(own, lock)) {
      const holder = Number(readFileSync(lock, 'utf8'))
      if (holder !== process.pid && holder > 0 && isAlive(holder)) throw inUse(directory, holder)
      rmSync(lock, { force: true })
    }
  } finally {
    rmSync(own, { force: true })
  }
  heldHere.add(held)
  return () => {
    rmSync(lock, { force: true })
    heldHere.delete(held)
  }
}

const inUse = (directory: string, holder: number): EspalierError =>
  new EspalierError('E_SANDBOX_STATE', `Another sandbox (process ${holder}) is using the folder ${directory}.`, {
    hint: `To use that sandbox, leave out --sandbox and set ESPALIER_BASE_URL and ESPALIER_API_KEY to the address and key that it printed. Otherwise stop it, or choose another folder. If process ${holder} is not a sandbox, delete ${join(directory, 'lock')}.`,
  })

const tryLink = (from: string, to: string): boolean => {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}
