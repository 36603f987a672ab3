/** Streams a project's operations. Keeps only one page in memory. */
import { onceEach } from '../base/index.ts'
import type { ReadApi } from './client.ts'
import type { Operation } from './wire.ts'

/** The largest page of the API. */
const LARGEST_PAGE = 1_000

/**
 * Newest first. Pages may be shorter than requested, and even the last one has a cursor (public OpenAPI). So the end is
 * a page without new operations, or a repeated cursor.
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
    // New operations shift the others, so the next page may repeat some of this one.
    known = new Set(page.operations.map(({ id }) => id))
    cursors.add(page.cursor)
    cursor = page.cursor
  }
}
