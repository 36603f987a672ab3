/** Runs work for the same key sequentially, and work for different keys concurrently. */
export class Queues {
  readonly #tails = new Map<string, Promise<unknown>>()

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const done = (this.#tails.get(key) ?? Promise.resolve()).then(work)
    const tail = done.catch(() => undefined)
    this.#tails.set(key, tail)
    void tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key)
    })
    return done
  }

  /** Resolves when all work queued so far for the key is done. */
  async idle(key: string): Promise<void> {
    await this.#tails.get(key)
  }

  async allIdle(): Promise<void> {
    await Promise.all(this.#tails.values())
  }
}
