/** One phase of `plan` in a process of its own: `phase.ts NAME COMPUTES PROJECTS URL KEY` prints `{ms, peakMiB, …}`. */
import { performance } from 'node:perf_hooks'
import { createReadApi, snapshot } from '../src/api/index.ts'
import { parseManifests } from '../src/manifest/index.ts'
import { plan } from '../src/planner/index.ts'
import { terminalPlan } from '../src/report/index.ts'
import { type FleetSize, fleetManifest, projectIds } from './fleet.ts'
import { peakMiB, resetPeak } from './peak-memory.ts'

const [name = '', computes = '', projects = '', baseUrl = '', apiKey = ''] = process.argv.slice(2)
const size: FleetSize = { computes: Number(computes), projects: Number(projects) }

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
  if (diagnostics.length > 0) throw new Error(`the bench's own manifest is wrong: ${diagnostics[0]?.message}`)
  return desired
}

const look = async () => {
  // The limits of the service would be all that is measured: they are counted, not waited for.
  const api = createReadApi({ baseUrl, apiKey, rateLimit: false })
  try {
    return await snapshot(api, projectIds(size))
  } finally {
    await api.close()
  }
}

const planned = (desired: ReturnType<typeof parse>, observed: Awaited<ReturnType<typeof look>>) => {
  const result = plan(desired, observed)
  if (!result.ok) throw new Error(`the bench's own fleet has no plan: ${result.diagnostics[0]?.message}`)
  return result.plan
}

const phases: Record<string, () => Promise<unknown>> = {
  parse: async () => {
    const text = fleetManifest(size)
    await measure(() => parse(text))
  },
  snapshot: () => measure(look),
  plan: async () => {
    const desired = parse(fleetManifest(size))
    const observed = await look()
    await measure(() => planned(desired, observed))
  },
  render: async () => {
    const value = planned(parse(fleetManifest(size)), await look())
    await measure(() => terminalPlan(value, { color: false, width: 100 }))
  },
}

await phases[name]?.()
