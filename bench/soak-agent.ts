/**
 * The second part of `npm run soak`, which runs an agent for a month of virtual time. Prints the results, writes
 * soak-agent.json, and exits with 1 if a check fails.
 */
import { writeFile } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
import { heapMiB, seeded, simulateMonth } from '../test/agent/month.ts'
import { HOUR } from '../test/agent/running.ts'

const PROJECTS = Number(process.argv[2] ?? 200)
const DAYS = Number(process.argv[3] ?? 30)
/** Half of the rate limit of an account, which is 700 requests per minute. */
const MOST_REQUESTS_A_MINUTE = 350
/**
 * From this day on, the agent is not restarted, and its memory may grow only slightly. The sandbox's list of operations
 * (at most 10,000) and the compiled code still grow by about 0.2 MiB per day.
 */
const WARM_DAY = Math.ceil((DAYS * 2) / 3)
const MOST_GROWTH_MIB = 3

const began = performance.now()
const heaps: number[] = []
let shown = 0
const minutes = (ms: number): number => Math.round(ms / 6_000) / 10
const { watch, ...month } = await simulateMonth({
  projects: PROJECTS,
  days: DAYS,
  interval: 2 * HOUR,
  random: seeded(),
  onDay: (day, requests, problems) => {
    heaps.push(heapMiB())
    for (const problem of problems.slice(shown)) console.log(problem)
    shown = problems.length
    console.log(`day ${day + 1}  ${requests} requests  ${heaps.at(-1)} MiB`)
  },
})
const wrong = [...watch.problems]
const [warm, last] = [heaps[WARM_DAY - 1], heaps.at(-1)]
if (warm !== undefined && last !== undefined && last > warm + MOST_GROWTH_MIB) wrong.push('memory grows')
if (watch.mostRequestsAMinute > MOST_REQUESTS_A_MINUTE) wrong.push('more requests per minute than the agent may send')
const figures = {
  node: process.version,
  projects: PROJECTS,
  days: DAYS,
  ...month,
  mostRequestsInAnyMinute: watch.mostRequestsAMinute,
  changingRequests: watch.changes,
  faultsStruck: watch.strikes,
  windowsWithWork: watch.windows,
  windowsMissed: watch.missed,
  heapMiB: heaps,
  minutes: minutes(performance.now() - began),
  cpuMinutes: minutes((process.cpuUsage().user + process.cpuUsage().system) / 1_000),
  wrong,
}
await writeFile(new URL('soak-agent.json', import.meta.url), `${JSON.stringify(figures, null, 2)}\n`)
for (const [name, value] of Object.entries(figures)) console.log(`${name.padEnd(26)}${JSON.stringify(value)}`)
process.exitCode = wrong.length === 0 ? 0 : 1
