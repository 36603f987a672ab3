/** Where the world is stored. */
import type { WorldChange } from './records.ts'

export interface Store {
  /** Writes all of the changes or none. Once it returns, they survive a kill of the process. */
  append(changes: readonly WorldChange[]): void
  /** Replaces everything that is stored. */
  replace(all: Iterable<WorldChange>): void
  close(): void
}

export const memoryStore: Store = { append: () => undefined, replace: () => undefined, close: () => undefined }
