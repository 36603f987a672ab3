import type { World } from './world.ts'

/** Timers on the world's clock. Each id has at most one timer. */
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

  /** Sets the timer of an id. If the id already has a timer, it is replaced. */
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
