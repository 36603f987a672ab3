/** When each key was last used. Not kept on disk: a line for every request would be too many. */
export class KeyUse {
  readonly #times = new Map<string, number>()

  note(id: string, time: number): void {
    this.#times.set(id, time)
  }

  /** Milliseconds since the epoch; `undefined` if it was not used since the sandbox started. */
  lastUse(id: string): number | undefined {
    return this.#times.get(id)
  }
}
