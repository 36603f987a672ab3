/** Runs a shape with every choice of at most `most` disturbances, fewest first. */
import type { Direct } from './direct.ts'
import { Known, type Pick, Run } from './run.ts'
import type { Shape } from './shapes.ts'

export interface Found {
  readonly runs: number
  /** Runs that were cut off because the rest of them was known. */
  readonly merged: number
  readonly violation?: {
    readonly wrong: readonly string[]
    readonly vector: readonly number[]
    readonly events: readonly string[]
  }
}

export const search = async (direct: Direct, shape: Shape, most: number): Promise<Found> => {
  const queue: (readonly number[])[] = [[]]
  const seen = new Set<string>()
  let [runs, merged] = [0, 0]
  for (let vector = queue.shift(); vector !== undefined; vector = queue.shift()) {
    const chosen = vector
    const left = most - chosen.filter((choice) => choice > 0).length
    let at = 0
    const pick: Pick = (n, key) => {
      const index = at
      at += 1
      if (index < chosen.length) return chosen[index] ?? 0
      const id = `${left} ${key()}`
      if (seen.has(id)) throw new Known()
      seen.add(id)
      if (left > 0)
        for (let choice = 1; choice < n; choice += 1) queue.push([...chosen, ...zeros(index - chosen.length), choice])
      return 0
    }
    const run = new Run(direct, shape)
    runs += 1
    try {
      await run.go(pick)
      const { wrong, events } = run
      if (wrong.length > 0) return { runs, merged, violation: { wrong, vector, events } }
    } catch (error) {
      if (!(error instanceof Known)) throw error
      merged += 1
    }
  }
  return { runs, merged }
}

const zeros = (length: number): readonly number[] => new Array<number>(length).fill(0)
