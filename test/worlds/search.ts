/** Runs a shape with every choice of at most `most` disturbances, fewest first. */
import type { Direct } from './direct.ts'
import { Memory } from './memory.ts'
import { type Pick, Run } from './run.ts'
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

interface Start {
  readonly vector: readonly number[]
  /** Identifies the state in which the last choice is made. */
  readonly key: string
}

/** @throws if a replay differs from the run that it repeats. */
export const search = async (direct: Direct, shape: Shape, most: number): Promise<Found> => {
  const queue: Start[] = [{ vector: [], key: '' }]
  const [seen, memory] = [new Set<string>(), new Memory()]
  let merged = 0
  for (let runs = 1; ; runs += 1) {
    const start = queue[runs - 1]
    if (start === undefined) return { runs: runs - 1, merged }
    const { vector } = start
    const left = most - vector.filter((choice) => choice > 0).length
    let at = 0
    const pick: Pick = (possible, key) => {
      const index = at
      at += 1
      if (index === vector.length - 1 && key() !== start.key) throw new Error(`not deterministic: ${vector}`)
      const chosen = vector[index] ?? 0
      if (chosen > 0) return possible()[chosen - 1]
      if (index < vector.length) return undefined
      const state = key()
      // Fewest disturbances first, so before, at least as many were left.
      if (seen.has(state)) return 'known'
      seen.add(state)
      if (left > 0) {
        const same = [...vector, ...new Array<number>(index - vector.length).fill(0)]
        for (const [choice] of possible().entries()) queue.push({ vector: [...same, choice + 1], key: state })
      }
      return undefined
    }
    const run = new Run(direct, shape, memory)
    await run.go(pick)
    const { wrong, events } = run
    if (wrong.length > 0) return { runs, merged, violation: { wrong, vector, events } }
    if (run.isMerged) merged += 1
  }
}
