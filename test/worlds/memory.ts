/** What the runs of one world have shown so far. */
export class Memory {
  /** Responses to reads, by the history of the sandbox, the time, and the request. */
  readonly responses = new Map<string, { readonly status: number; readonly text: string }>()
  readonly #ids = new Map<string, number>([['', 0]])
  readonly #checked = new Set<string>()

  /** The same number for the same text. */
  idOf(text: string): number {
    const known = this.#ids.get(text) ?? this.#ids.size
    this.#ids.set(text, known)
    return known
  }

  /** Whether this is the first check of what follows from a state. */
  isNew(state: string): boolean {
    const before = this.#checked.size
    return this.#checked.add(state).size > before
  }
}
