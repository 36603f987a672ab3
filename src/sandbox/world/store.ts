/** Where the world is kept. What `append` returned from survives the death of the process. */
import type { WorldChange } from './records.ts'

export interface Store {
  /** All of these, or none. Nothing is acknowledged before this returned. */
  append(changes: readonly WorldChange[]): void
  /** Keeps these instead of all that was kept. */
  replace(all: Iterable<WorldChange>): void
  close(): void
}

export const memoryStore: Store = { append: () => undefined, replace: () => undefined, close: () => undefined }
