/**
 * A write-ahead log beside a snapshot. A line of the log is one transaction; a last line that was cut off by a kill was
 * never acknowledged and is dropped. Written without fsync: the system keeps what a killed process wrote, and a power
 * failure is no concern of a sandbox.
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { EspalierError } from '../../model/index.ts'
import type { WorldChange } from '../world/records.ts'
import type { Store } from './store.ts'

/** The log is folded into the snapshot when it has grown to this. */
const FOLD_AT_BYTES = 16 * 1024 * 1024

export interface OpenedStore {
  readonly store: Store
  readonly apiKey: string | undefined
  readonly changes: readonly WorldChange[]
  /** To be called once the world is whole: folds the log into a snapshot of `dump`, now and when it has grown. */
  readonly begin: (dump: () => Iterable<WorldChange>) => void
  readonly keepKey: (apiKey: string) => void
}

/** @throws {EspalierError} `E_SANDBOX_STATE` where another sandbox holds the folder, or it holds something else. */
export const openFileStore = (directory: string): OpenedStore => {
  mkdirSync(directory, { recursive: true })
  const path = (name: string): string => join(directory, name)
  takeLock(directory, path('lock'))
  const changes = [...readLines(path('snapshot.jsonl')), ...readLines(path('log.jsonl'))].flat()
  let log = openSync(path('log.jsonl'), 'a', 0o600)
  let size = 0
  let dump: (() => Iterable<WorldChange>) | undefined

  const fold = (all: Iterable<WorldChange>): void => {
    const lines: string[] = []
    for (const change of all) lines.push(JSON.stringify([change]))
    writeFileSync(path('snapshot.tmp'), lines.length === 0 ? '' : `${lines.join('\n')}\n`, { mode: 0o600 })
    renameSync(path('snapshot.tmp'), path('snapshot.jsonl'))
    // Killed between these two, the log is read on top of the snapshot: every change in it says the same again.
    closeSync(log)
    log = openSync(path('log.jsonl'), 'w', 0o600)
    size = 0
  }

  return {
    changes,
    apiKey: existsSync(path('key')) ? readFileSync(path('key'), 'utf8').trim() : undefined,
    keepKey: (apiKey) => writeFileSync(path('key'), `${apiKey}\n`, { mode: 0o600 }),
    begin: (all) => {
      dump = all
      fold(all())
    },
    store: {
      append: (transaction) => {
        const line = Buffer.from(`${JSON.stringify(transaction)}\n`)
        for (let written = 0; written < line.length; ) written += writeSync(log, line, written)
        size += line.length
        if (size > FOLD_AT_BYTES && dump !== undefined) {
          // The tables take this transaction up after this returns, and the snapshot must hold it.
          size = 0
          queueMicrotask(() => dump !== undefined && fold(dump()))
        }
      },
      close: () => {
        closeSync(log)
        rmSync(path('lock'), { force: true })
      },
    },
  }
}

const readLines = (file: string): readonly (readonly WorldChange[])[] => {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n')
  const last = lines.pop()
  const whole = lines.map((line, index) => parseLine(line, `${file}:${index + 1}`))
  // No line end: the kill came while it was written.
  if (last !== undefined && last !== '') truncateTo(file, lines)
  return whole
}

const truncateTo = (file: string, lines: readonly string[]): void =>
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 })

const parseLine = (line: string, where: string): readonly WorldChange[] => {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw new EspalierError('E_SANDBOX_STATE', `The sandbox's state is damaged at ${where}.`, {
      hint: 'Delete the folder to start anew from the seed.',
      cause,
    })
  }
}

/** A lock of a process that is gone is taken over. */
const takeLock = (directory: string, lock: string): void => {
  const holder = existsSync(lock) ? Number(readFileSync(lock, 'utf8')) : undefined
  if (holder !== undefined && holder !== process.pid && isAlive(holder)) {
    throw new EspalierError('E_SANDBOX_STATE', `Another sandbox (process ${holder}) uses the folder ${directory}.`, {
      hint: 'End that one, or name another folder.',
    })
  }
  writeFileSync(lock, `${process.pid}`)
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
