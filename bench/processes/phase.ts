/** Runs a single phase of `plan`. `phase NAME WORLD URL KEY` prints `{ms, peakMiB}`. */
import { performance } from 'node:perf_hooks'
import { createReadApi, snapshot } from '../../src/api/index.ts'
import { parseManifests } from '../../src/manifest/index.ts'
import { plan, projectIds } from '../../src/planner/index.ts'
import { terminalPlan } from '../../src/report/index.ts'
import { peakMiB, resetPeak } from '../peak-memory.ts'
import { manifestOf, type World } from '../worlds.ts'

const [name = '', worldText = '', baseUrl = '', apiKey = ''] = process.argv.slice(2)
const world = JSON.parse(worldText) as World

const measure = async <T>(work: () => T | Promise<T>): Promise<T> => {
  resetPeak()
  const started = performance.now()
  const result = await work()
  const ms = performance.now() - started
  console.log(JSON.stringify({ ms, peakMiB: peakMiB() }))
  return result
}

const parse = (text: string) => {
  const { desired, diagnostics } = parseManifests([{ path: 'fleet.yaml', text }])
  if (diagnostics.length > 0) throw new Error(`the bench's own manifest is invalid: ${diagnostics[0]?.message}`)
  return desired
}

const look = async (desired: ReturnType<typeof parse>) => {
  // The rate limit is disabled, because it would dominate the measurement. Requests are still counted.
  const api = createReadApi({ baseUrl, apiKey, rateLimit: false })
  try {
    return await snapshot(api, projectIds(desired), { concurrency: 16 })
  } finally {
    await api.close()
  }
}

const planned = (desired: ReturnType<typeof parse>, observed: Awaited<ReturnType<typeof look>>) => {
  const result = plan(desired, observed)
  if (!result.ok) throw new Error(`the bench's own fleet cannot be planned: ${result.diagnostics[0]?.message}`)
  return result.plan
}

const text = manifestOf(world)
const phases: Record<string, () => Promise<unknown>> = {
  validate: () => measure(() => parse(text)),
  snapshot: async () => {
    const desired = parse(text)
    await measure(() => look(desired))
  },
  plan: async () => {
    const desired = parse(text)
    const observed = await look(desired)
    await measure(() => planned(desired, observed))
  },
  render: async () => {
    const desired = parse(text)
    const value = planned(desired, await look(desired))
    await measure(() => terminalPlan(value, { color: false, width: 100 }))
  },
}

await phases[name]?.()
