/** Every run of small worlds with at most two disturbances. */
import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { isLong } from '../long-runs.ts'
import { Direct } from './direct.ts'
import type { Searched, Task } from './part.ts'
import { search } from './search.ts'
import { SMALLEST, shapes } from './shapes.ts'

const LEAST_RUNS = 100_000
/** So many worlds, the smallest ones, are searched with two disturbances, and all others with one. */
const WITH_TWO = 64

test.skipIf(isLong)('with at most one disturbance, every run of five small worlds keeps its promises', async () => {
  const direct = await Direct.open()
  try {
    for (const world of SMALLEST) {
      const { runs, violation } = await search(direct, world, 1)
      expect(violation, JSON.stringify(world.declared)).toBeUndefined()
      expect(runs).toBeGreaterThan(40)
    }
  } finally {
    await direct.sandbox.close()
  }
})

/** Gives the tasks to one process per core. Returns when all have ended, or with the first violation. */
const searchAll = (tasks: Iterable<Task>, onFound: (found: Searched) => void): Promise<void> => {
  const rest = tasks[Symbol.iterator]()
  const path = fileURLToPath(new URL('part.ts', import.meta.url))
  const processes = Array.from({ length: availableParallelism() }, () => fork(path, { execArgv: ['--import', 'tsx'] }))
  const work = processes.map(
    (child) =>
      new Promise<void>((resolve, reject) => {
        const next = (): void => {
          const { value, done } = rest.next()
          if (done === true) resolve()
          else child.send(value)
        }
        child.on('message', (found: Searched) => {
          onFound(found)
          if (found.violation === undefined) next()
          else reject(new Error(`world ${found.index}: ${JSON.stringify(found.violation, null, 1)}`))
        })
        child.on('exit', (code, signal) => reject(new Error(`a search ended with ${code ?? signal}`)))
        child.on('error', reject)
        next()
      }),
  )
  return Promise.all(work)
    .then(() => undefined)
    .finally(() => {
      for (const child of processes) child.kill()
    })
}

test.runIf(isLong)(
  'with at most two disturbances, every run of small worlds keeps its promises',
  async () => {
    const worlds = shapes()
    let [runs, merged] = [0, 0]
    const tasks = worlds.map((_, index) => ({ index, most: index < WITH_TWO ? 2 : 1 }))
    await searchAll(tasks, (found) => {
      runs += found.runs
      merged += found.merged
    })
    const shown = `${worlds.length} shapes (${WITH_TWO} with two disturbances), ${runs} runs, ${merged} merged: no violation`
    process.stdout.write(`${shown}\n`)
    expect(runs).toBeGreaterThanOrEqual(LEAST_RUNS)
  },
  1_800_000,
)
