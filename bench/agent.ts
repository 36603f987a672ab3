/**
 * `npm run bench:agent` measures what an idle agent costs and how fast it reacts. It runs in virtual time, with the
 * sandbox in the same process.
 */
import { HOUR, MINUTE, openWorld } from '../test/agent/running.ts'

const SAMPLES = 12
const idOf = (index: number): string => `idle-${String(index).padStart(8, '0')}`
const computeOf = (index: number): string => `ep-idle-${String(index).padStart(8, '0')}`
const manifestOf = (index: number, size: number): string =>
  `version: 1\nproject: ${idOf(index)}\nbranches:\n  main: { primary: { size: ${size}, scaleToZero: never } }\n`

const seconds = (times: readonly number[]): string => {
  const sorted = [...times].sort((a, b) => a - b)
  const [median = 0, worst = 0] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
  return `${Math.round(median / 1_000)} s, at most ${Math.round(worst / 1_000)} s`
}

const measure = async (count: number): Promise<string> => {
  const indexes = Array.from({ length: count }, (_, index) => index)
  const world = await openWorld({
    projects: indexes.map((index) => ({
      id: idOf(index),
      branches: [
        {
          id: `br-idle-${String(index).padStart(8, '0')}`,
          name: 'main',
          computes: [{ id: computeOf(index), size: 1, scaleToZero: 'never' as const }],
        },
      ],
    })),
  })
  try {
    const sizes = indexes.map(() => 1)
    const declare = (): Promise<void> => world.declareAll(sizes.map((size, index) => manifestOf(index, size)))
    await declare()
    const agent = await world.start({ random: Math.random })
    const now = (): number => world.stage.clock.now()
    const until = async (isTrue: () => boolean): Promise<number> => {
      const from = now()
      while (!isTrue()) await world.pass(1_000)
      return now() - from
    }
    const projectAt = (index: number) => agent.view().projects.find(({ id }) => id === idOf(index))
    await world.pass(10 * MINUTE)
    globalThis.gc?.()
    const [before, cpu] = [world.stage.sandbox.requests, process.cpuUsage()]
    await world.pass(HOUR)
    const { user, system } = process.cpuUsage(cpu)
    const requests = world.stage.sandbox.requests - before
    globalThis.gc?.()
    const heap = Math.round(process.memoryUsage().heapUsed / 2 ** 20)
    const [commits, drifts]: [number[], number[]] = [[], []]
    for (let sample = 0; sample < SAMPLES; sample += 1) {
      const index = (sample * 37) % count
      // The agent restarts a compute at most three times in 24 hours.
      if (count < SAMPLES) await world.pass(9 * HOUR)
      sizes[index] = sizes[index] === 1 ? 2 : 1
      const size = `${sizes[index]} CU`
      const done = world.writes().length
      await world.pass(Math.random() * 30_000)
      await declare()
      commits.push(await until(() => world.writes().length > done && projectAt(index)?.state === 'Synced'))
      await world.edit(idOf(index), computeOf(index), { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 4 })
      drifts.push(await until(() => projectAt(index)?.sync === 'OutOfSync'))
      const back = Number(size.split(' ')[0])
      await world.edit(idOf(index), computeOf(index), {
        autoscaling_limit_min_cu: back,
        autoscaling_limit_max_cu: back,
      })
      await until(() => projectAt(index)?.state === 'Synced')
    }
    return `| ${count} | ${requests} | ${((user + system) / 1e6).toFixed(1)} s | ${heap} MiB | ${seconds(commits)} | ${seconds(drifts)} |`
  } finally {
    await world.close()
  }
}

process.stdout.write(
  '| projects | requests per hour | CPU time per hour | heap | from commit to applied | from drift to reported |\n|---:|---:|---:|---:|---:|---:|\n',
)
for (const count of process.argv.slice(2).map(Number)) process.stdout.write(`${await measure(count)}\n`)
