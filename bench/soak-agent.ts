/** The second part of `npm run soak`: a month of an agent in virtual time. Prints its figures; ends with 1 if one is wrong. */
import { performance } from 'node:perf_hooks'
import { heapMiB, seeded, simulateMonth } from '../test/agent/month.ts'
import { HOUR } from '../test/agent/running.ts'

const PROJECTS = Number(process.argv[2] ?? 200)
const DAYS = Number(process.argv[3] ?? 30)
/** At half of an account's limit. */
const MOST_REQUESTS_A_MINUTE = 350

const began = performance.now()
const heaps: number[] = []
const month = await simulateMonth({
  projects: PROJECTS,
  days: DAYS,
  interval: HOUR,
  random: seeded(),
  onDay: (day, requests) => {
    heaps.push(heapMiB())
    process.stdout.write(`day ${day + 1}  ${requests} requests  ${heaps.at(-1)} MiB\n`)
  },
})
const rows: readonly (readonly [string, unknown])[] = [
  ['projects, days with faults', `${PROJECTS}, ${DAYS}`],
  ['commits, changes by hand, restarts of the agent', `${month.commits}, ${month.edits}, ${month.agentRestarts}`],
  ['requests, most in a minute', `${month.requests}, ${month.mostRequestsAMinute}`],
  ['changing requests, steps done', `${month.writes}, ${month.applied}`],
  ['windows missed', JSON.stringify(month.missedWindows)],
  ['interruptions outside of a window', month.outsideWindow.length],
  ['projects not Synced at the end', month.unsettled.length],
  ['heap on day 2 and at the end, MiB', `${heaps[1] ?? heaps[0]}, ${heaps.at(-1)}`],
  ['minutes', ((performance.now() - began) / 60_000).toFixed(1)],
]
for (const [name, value] of rows) process.stdout.write(`${name}: ${value}\n`)
for (const line of [...month.outsideWindow, ...month.unsettled]) process.stdout.write(`${line}\n`)
const isWrong =
  month.outsideWindow.length > 0 || month.unsettled.length > 0 || month.mostRequestsAMinute > MOST_REQUESTS_A_MINUTE
process.exitCode = isWrong ? 1 : 0
