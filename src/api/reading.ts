/** Reads lists page by page, and reports the progress of reading many projects. */
import { type Clock, onceEach } from '../base/index.ts'
import { ApiError } from './errors.ts'

export interface Page<T> {
  readonly items: readonly T[]
  /** Cursor of the next page. */
  readonly next: string | null | undefined
}

/** Reads the first page, or the one that the cursor leads to. */
type ReadPage<T> = (after: { readonly cursor?: string }) => Promise<Page<T>>

/**
 * The new items of each page. Keeps only one page in memory. Pages may be shorter than requested, and even the last one
 * may have a cursor (public OpenAPI). So the end is a page without new items, or a repeated cursor.
 */
async function* newItems<T extends { readonly id: string }>(read: ReadPage<T>): AsyncGenerator<readonly T[]> {
  const cursors = new Set<string>()
  let known = new Set<string>()
  for (let after: { readonly cursor?: string } = {}; ; ) {
    const { items, next } = await read(after)
    const fresh = onceEach(items).filter(({ id }) => !known.has(id))
    yield fresh
    if (fresh.length === 0 || typeof next !== 'string' || cursors.has(next)) return
    // New items at the start shift the others, so the next page may repeat some of this one.
    known = new Set(items.map(({ id }) => id))
    cursors.add(next)
    after = { cursor: next }
  }
}

/** Limits for lists that never end. */
const MAX_LISTED = 200_000
const MAX_LIST_MS = 600_000

/**
 * The {@link newItems} of a list that may never end.
 *
 * @throws {ApiError} `E_ANSWER` if the list does not end within ten minutes.
 */
export async function* timedItems<T extends { readonly id: string }>(
  clock: Pick<Clock, 'now'>,
  path: string,
  read: ReadPage<T>,
): AsyncGenerator<readonly T[]> {
  const started = clock.now()
  for await (const items of newItems(read)) {
    yield items
    if (clock.now() - started > MAX_LIST_MS) throw endless(path, 'has no end after ten minutes')
  }
}

/**
 * The whole list, without duplicates.
 *
 * @param path for messages.
 * @throws {ApiError} `E_ANSWER` if the list does not end.
 */
export const listAll = async <T extends { readonly id: string }>(
  clock: Clock,
  path: string,
  read: ReadPage<T>,
): Promise<readonly T[]> => {
  const found = new Map<string, T>()
  for await (const items of timedItems(clock, path, read)) {
    const before = found.size
    for (const item of items) if (!found.has(item.id)) found.set(item.id, item)
    if (found.size > MAX_LISTED) throw endless(path, 'has more than 200,000 items')
    if (found.size === before) break
  }
  return [...found.values()]
}

const endless = (path: string, why: string): ApiError =>
  new ApiError('E_ANSWER', `The control API's list ${why}.`, { method: 'GET', path })

/** Progress of reading many projects. */
export interface Reading {
  readonly what: 'projects' | 'project names' | 'past operations'
  readonly done: number
  readonly total: number
}

export type OnReading = (reading: Reading) => void

/** Returns a function that counts a read as done, whether it succeeds or fails. */
export const countReads = (
  what: Reading['what'],
  total: number,
  onReading: OnReading = () => undefined,
): (<T>(read: Promise<T>) => Promise<T>) => {
  let done = 0
  onReading({ what, done, total })
  return (read) =>
    read.finally(() => {
      done += 1
      onReading({ what, done, total })
    })
}
