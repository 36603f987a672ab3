/** Measures how much longer an apply takes than its operations. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { request } from 'undici'
import type { ApplyEvent, StepOutcome } from '../../src/model/index.ts'
import type { Bench } from '../bench.ts'
import { node } from '../run-process.ts'
import { type Seen, type Server, startServer } from '../start-server.ts'
import { figureOf } from '../statistics.ts'
import type { Section } from '../table.ts'
import { manifestOf, type World } from '../worlds.ts'

interface Scenario {
  readonly name: string
  readonly world: World
  readonly operationMs: number
  readonly spread: number
  readonly latencyMs: number
}

const WORLDS: Readonly<Record<string, World>> = {
  '100 creates, 10 projects': { kind: 'creates', computes: 100, projects: 10 },
  '20 restarts, one project': { kind: 'restarts', computes: 20 },
  'a chain of 10 moves': { kind: 'moves', computes: 10 },
  '4 restarts, one project': { kind: 'restarts', computes: 4 },
}

const scenario = (name: string, operationMs: number, spread: number, latencyMs: number): Scenario => ({
  name,
  world: WORLDS[name] ?? { kind: 'restarts', computes: 1 },
  operationMs,
  spread,
  latencyMs,
})

const [CREATES = '', RESTARTS = '', MOVES = '', FEW = ''] = Object.keys(WORLDS)
const SCENARIOS = [
  ...[50, 0].flatMap((latencyMs) => [
    scenario(CREATES, 2_000, 0, latencyMs),
    scenario(RESTARTS, 2_000, 0, latencyMs),
    scenario(MOVES, 2_000, 0, latencyMs),
  ]),
  scenario(FEW, 10_000, 0, 50),
  // Durations vary, as in the sandbox, so that polls cannot be timed to coincide with the end of an operation.
  scenario(CREATES, 2_000, 0.1, 50),
  scenario(RESTARTS, 2_000, 0.1, 50),
]

interface Measured {
  readonly makespanMs: number
  readonly criticalMs: number
  readonly requestsPerStep: number
  readonly lateMs: readonly number[]
}

export const applySection = async ({ runs, quick, folder }: Bench): Promise<Section> => {
  const chosen = quick ? SCENARIOS.filter(({ latencyMs, spread }) => latencyMs === 50 && spread === 0) : SCENARIOS
  const measured = chosen.map((): Measured[] => [])
  for (let run = 0; run < runs; run += 1) {
    const take = async (one: Scenario): Promise<void> => {
      const index = chosen.indexOf(one)
      measured[index]?.push(await measure(one, join(folder, `apply-${index}.yaml`)))
    }
    // The scenarios run concurrently, because they mostly wait. Moves do not wait, so they run alone.
    await Promise.all(chosen.filter(({ world }) => world.kind !== 'moves').map(take))
    for (const one of chosen.filter(({ world }) => world.kind === 'moves')) await take(one)
  }
  return {
    name: 'Apply',
    about:
      'The times of `espalier apply` are measured from the start of the first step to the end of the last. The critical path is the longest chain of operation times within a project, plus one round trip for each call. A move starts no operation, so the read that verifies it also counts as a call. The scenarios with operations run at the same time, those with moves alone.',
    rows: chosen.map(({ name, operationMs, spread, latencyMs }, index) => {
      const all = measured[index] ?? []
      return {
        scenario: name,
        operations: spread === 0 ? `${operationMs} ms` : `${operationMs} ms ± ${spread * 100}%`,
        'latency, ms': latencyMs,
        'makespan, ms': figureOf(all.map(({ makespanMs }) => makespanMs)),
        'relative to the critical path': figureOf(all.map(({ makespanMs, criticalMs }) => makespanMs / criticalMs)),
        'requests per step': figureOf(all.map(({ requestsPerStep }) => requestsPerStep)),
        // A move starts no operation.
        ...(all.some(({ lateMs }) => lateMs.length > 0)
          ? { 'operation end to step end, ms': figureOf(all.map(({ lateMs }) => figureOf(lateMs).median)) }
          : {}),
      }
    }),
  }
}

const measure = async ({ world, operationMs, spread, latencyMs }: Scenario, manifest: string): Promise<Measured> => {
  const actions = ['apply_config', 'start_compute', 'suspend_compute']
  const durations = Object.fromEntries(actions.map((action) => [action, operationMs]))
  const server = await startServer({ world, durations, durationSpread: spread })
  try {
    await writeFile(manifest, manifestOf(world))
    await server.setLatency(latencyMs)
    const roundTripMs = await roundTrip(server)
    await server.seen()
    const args = ['dist/main.js', 'apply', manifest, '--auto-approve', '--allow', 'move', '--format', 'json']
    const { stdout } = await node(args, { env: server.env, keepOutput: true })
    return evaluate(eventsIn(stdout), await server.seen(), roundTripMs)
  } finally {
    await server.stop()
  }
}

const roundTrip = async ({ url, key }: Server): Promise<number> => {
  const times: number[] = []
  for (let turn = 0; turn < 10; turn += 1) {
    const began = performance.now()
    const { body } = await request(`${url}/users/me`, { headers: { authorization: `Bearer ${key}` } })
    await body.dump()
    times.push(performance.now() - began)
  }
  return figureOf(times).median
}

const eventsIn = (stdout: string): readonly ApplyEvent[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ApplyEvent)

const evaluate = (events: readonly ApplyEvent[], { requests, operations }: Seen, roundTripMs: number): Measured => {
  const projects = new Map<string, string>()
  const ends: { readonly at: number; readonly project: string; readonly outcome: StepOutcome }[] = []
  let start = Number.POSITIVE_INFINITY
  for (const event of events) {
    const at = Date.parse(event.time)
    if (event.type === 'step-start') {
      start = Math.min(start, at)
      projects.set(event.step.id, event.step.project)
    }
    if (event.type === 'step-end') {
      if (event.outcome.status !== 'done') throw new Error(`a step was not done: ${event.outcome.message}`)
      ends.push({ at, project: projects.get(event.outcome.step) ?? '', outcome: event.outcome })
    }
  }
  const end = Math.max(...ends.map(({ at }) => at))
  const known = new Map(operations.map((operation) => [operation.id, operation]))
  const chains = new Map<string, { operationsMs: number; calls: number }>()
  const lateMs: number[] = []
  for (const { at, project, outcome } of ends) {
    // A step is verified by a read. If the step has operations, this read runs concurrently with the poll that detects
    // their end. Otherwise, the read follows the call and adds a round trip.
    const own = outcome.operations.map(({ id }) => known.get(id)).filter((one) => one !== undefined)
    const chain = chains.get(project) ?? { operationsMs: 0, calls: 0 }
    chain.operationsMs += own.reduce((sum, { startedAt, updatedAt }) => sum + updatedAt - startedAt, 0)
    chain.calls += own.length > 0 ? 1 : 2
    chains.set(project, chain)
    if (own.length > 0) lateMs.push(at - Math.max(...own.map(({ updatedAt }) => updatedAt)))
  }
  const paths = [...chains.values()].map(({ operationsMs, calls }) => operationsMs + calls * roundTripMs)
  // After the last step, Espalier plans again, with two requests per project. These requests are subtracted by their
  // number rather than recognized by their time, because the clocks of the client and the server may differ.
  const first = requests.findIndex(({ method }) => method !== 'GET')
  const during = requests.length - first - 2 * chains.size
  return {
    makespanMs: end - start,
    criticalMs: Math.max(...paths),
    requestsPerStep: during / ends.length,
    lateMs,
  }
}
