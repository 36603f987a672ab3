/** Streams a project's operations. Keeps only one page in memory. */
import type { ReadApi } from './client.ts'
import { newItems } from './pages.ts'
import type { Operation } from './wire.ts'

/** The largest page of the API. */
const LARGEST_PAGE = 1_000

/** Newest first. */
export async function* streamOperations(api: ReadApi, projectId: string): AsyncGenerator<Operation> {
  const pages = newItems(async (after) => {
    const { operations, cursor } = await api.listOperations(projectId, { limit: LARGEST_PAGE, ...after })
    return { items: operations, next: cursor }
  })
  for await (const page of pages) yield* page
}
