/**
 * A snapshot and a write-ahead log. A line of the log is one transaction; a last line that was cut off by a kill was
 * never acknowledged and is dropped. Written without fsync: the system keeps what a killed process wrote, and a power
 * failure does not concern a sandbox.
 */
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { EspalierError } from '../../model/index.ts'
import type { WorldChange } from '../world/records.ts'
import type { Store } from '../world/store.ts'
import { takeLock } from './lock.ts'

/** The log is folded into the snapshot when it has grown to this, or to the snapshot's size if that is more. */
const FOLD_AT_BYTES = 16 * 1024 * 1024

export interface OpenedStore {
  /** What other users of the machine can read, a sentence each. */
  readonly warnings: readonly string[]
  readonly store: Store
  readonly apiKey: string | undefined
  /** What was kept, oldest first. */
  readonly read: () => readonly WorldChange[]
  /** To be called once the world is whole: folds the log into a snapshot of `dump`, now and when it has grown. */
  readonly begin: (dump: () => Iterable<WorldChange>) => void
  readonly keepKey: (apiKey: string) => void
}

/** @throws {EspalierError} `E_SANDBOX_STATE` if another sandbox holds the folder, or it cannot be used. */
export const openFileStore = (directory: string): OpenedStore => {
  const path = (name: string): string => join(directory, name)
  const [unlock, log] = orUnusable(directory, () => {
    makeFolder(directory)
    return [takeLock(directory), openSync(path('log.jsonl'), 'a+', 0o600)] as const
  })
  let size = 0
  let foldAt = FOLD_AT_BYTES
  let dump: (() => Iterable<WorldChange>) | undefined

  const fold = (all: Iterable<WorldChange>): void => {
    const snapshot = openSync(path('snapshot.tmp'), 'w', 0o600)
    for (const change of all) writeWhole(snapshot, [change])
    closeSync(snapshot)
    renameSync(path('snapshot.tmp'), path('snapshot.jsonl'))
    // Killed between these two, the log is read on top of the snapshot: every change in it says the same again.
    ftruncateSync(log)
    size = 0
    foldAt = Math.max(FOLD_AT_BYTES, statSync(path('snapshot.jsonl')).size)
  }

  return {
    warnings: [directory, path('key')].flatMap(readableByOthers),
    apiKey: existsSync(path('key')) ? readFileSync(path('key'), 'utf8').trim() : undefined,
    read: () => [...readLines(path('snapshot.jsonl')), ...readLines(path('log.jsonl'))],
    keepKey: (apiKey) => writeFileSync(path('key'), `${apiKey}\n`, { mode: 0o600 }),
    begin: (all) => {
      dump = all
      fold(all())
    },
    store: {
      append: (transaction) => {
        try {
          size += writeWhole(log, transaction)
        } catch (cause) {
          // Half a line must not be before the next one.
          ftruncateSync(log, size)
          throw new EspalierError('E_SANDBOX_STATE', `The sandbox cannot write to ${directory}.`, { cause })
        }
        if (size <= foldAt) return
        // The tables take this transaction up after this returns, and the snapshot must hold it.
        foldAt = Number.POSITIVE_INFINITY
        queueMicrotask(() => dump !== undefined && fold(dump()))
      },
      replace: fold,
      close: () => {
        closeSync(log)
        unlock()
      },
    },
  }
}

/** One that is made here can be passed through, as Postgres under another user must, but not listed; git leaves it alone. */
const makeFolder = (directory: string): void => {
  if (existsSync(directory)) return
  mkdirSync(directory, { recursive: true, mode: 0o711 })
  writeFileSync(join(directory, '.gitignore'), '*\n')
}

const READABLE_BY_OTHERS = 0o044

const readableByOthers = (path: string): readonly string[] => {
  // Windows has no such bits.
  if (process.platform === 'win32' || !existsSync(path) || (statSync(path).mode & READABLE_BY_OTHERS) === 0) return []
  return [`Other users of this machine can read ${path}: chmod go-r ${path}`]
}

const orUnusable = <T>(directory: string, use: () => T): T => {
  try {
    return use()
  } catch (cause) {
    if (cause instanceof EspalierError) throw cause
    throw new EspalierError('E_SANDBOX_STATE', `The sandbox cannot keep its state in ${directory}.`, {
      hint: 'It must be a folder that you may write to; name another one.',
      cause,
    })
  }
}

/** Returns the bytes written: all, or it throws. */
const writeWhole = (file: number, transaction: readonly WorldChange[]): number => {
  const line = Buffer.from(`${JSON.stringify(transaction)}\n`)
  for (let written = 0; written < line.length; ) written += writeSync(file, line, written)
  return line.length
}

function* readLines(file: string): Iterable<WorldChange> {
  if (!existsSync(file)) return
  const lines = readFileSync(file, 'utf8').split('\n')
  // What follows the last line end is nothing, or what a kill cut off.
  lines.pop()
  for (const [index, line] of lines.entries()) yield* parseLine(line, `${file}:${index + 1}`)
}

const parseLine = (line: string, where: string): readonly WorldChange[] => {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw new EspalierError('E_SANDBOX_STATE', `The sandbox's state is damaged at ${where}.`, {
      hint: 'Delete the folder to start again from the seed.',
      cause,
    })
  }
}
