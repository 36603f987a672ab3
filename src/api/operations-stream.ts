/** A project's operations, page by page: however many there are, one page is held at a time. */
import type { ReadApi } from './client.ts'
import { pageTurner } from './pages.ts'
import type { Operation } from './wire.ts'

/** The most that the API gives at once. */
const LARGEST_PAGE = 1_000

/**
 * Newest first. Ends with the first page that is empty: the API gives a cursor with every page (public OpenAPI).
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
  // However many there are, none is held, and whoever reads them may take their time.
  const next = pageTurner(`/projects/${projectId}/operations`)
  for (;;) {
    const page = await api.listOperations(projectId, {
      limit: Math.min(LARGEST_PAGE, left),
      ...(cursor === undefined ? {} : { cursor }),
    })
    for (const operation of page.operations) {
      yield operation
      left -= 1
      if (left <= 0) return
    }
    cursor = next(page.operations.length === 0 ? undefined : page.cursor, 0)
    if (cursor === undefined) return
  }
}
