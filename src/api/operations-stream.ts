/** A project's operations, page by page: however many there are, one page is held at a time. */
import { onceEach } from '../base/index.ts'
import type { ReadApi } from './client.ts'
import type { Operation } from './wire.ts'

/** The most that the API gives at once. */
const LARGEST_PAGE = 1_000

/**
 * Newest first. A page may be shorter than was asked for, and the API gives a cursor with the last one too (public
 * OpenAPI): so it ends with a page that holds nothing new, or a cursor that was there before.
 *
 * @param limit stops after this many.
 */
export async function* streamOperations(
  api: ReadApi,
  projectId: string,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<Operation> {
  let cursor: string | undefined
  let left = limit
  const cursors = new Set<string>()
  let known = new Set<string>()
  for (;;) {
    const page = await api.listOperations(projectId, {
      limit: Math.min(LARGEST_PAGE, left),
      ...(cursor === undefined ? {} : { cursor }),
    })
    const fresh = onceEach(page.operations).filter(({ id }) => !known.has(id))
    for (const operation of fresh) {
      yield operation
      left -= 1
      if (left <= 0) return
    }
    if (page.cursor === undefined || fresh.length === 0 || cursors.has(page.cursor)) return
    // Those of the page before: new operations move the others on by a few places.
    known = new Set(page.operations.map(({ id }) => id))
    cursors.add(page.cursor)
    cursor = page.cursor
  }
}
