import type { World } from './world.ts'

/** At most one timer per id, on the world's clock. */
export class Timers {
  readonly #world: World
  readonly #cancels = new Map<string, () => void>()

  constructor(world: World) {
    this.#world = world
    world.watch({ emptied: () => this.#cancels.clear() })
  }

  has(id: string): boolean {
    return this.#cancels.has(id)
  }

  /** Replaces the timer that the id may have. */
  set(id: string, time: number, task: () => void): void {
    this.cancel(id)
    const ring = (): void => {
      this.#cancels.delete(id)
      task()
    }
    this.#cancels.set(id, this.#world.at(time, ring))
  }

  cancel(id: string): void {
    this.#cancels.get(id)?.()
    this.#cancels.delete(id)
  }
}
