/** Lists that come page by page, from a server that may never end one. */
import type { Clock } from '../model/index.ts'
import { ApiError } from './errors.ts'

const MAX_LISTED = 200_000
const MAX_LIST_MS = 600_000

/** @returns the cursor of the next page; `undefined` after the last one. */
export type TurnPage = (cursor: string | null | undefined, listed: number) => string | undefined

/**
 * Asked after each page of one list, with the cursor that came with it and how many items are held by now.
 *
 * @param clock by which a list has ten minutes; without it, as long as it takes.
 * @throws {ApiError} `E_ANSWER` for a cursor that was there before, for more than 200,000 items, and out of time.
 */
export const pageTurner = (path: string, clock?: Clock): TurnPage => {
  const started = clock?.now() ?? 0
  const seen = new Set<string>()
  let last: string | undefined
  return (cursor, listed) => {
    // Some lists give the cursor of the last page again and again.
    if (cursor === undefined || cursor === null || cursor === last) return undefined
    if (seen.has(cursor)) throw endless(path, 'goes round in a circle: a page leads to one before it')
    if (listed > MAX_LISTED) throw endless(path, 'has more than 200,000 items, and no end')
    if (clock !== undefined && clock.now() - started > MAX_LIST_MS) throw endless(path, 'has no end after ten minutes')
    seen.add(cursor)
    last = cursor
    return cursor
  }
}

const endless = (path: string, why: string): ApiError =>
  new ApiError('E_ANSWER', `The control API's list ${why}.`, { method: 'GET', path })
