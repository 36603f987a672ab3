/** Days of an agent in virtual time: commits, changes by hand, windows, faults of API and git, restarts. */
import { groupBy } from '../../src/base/index.ts'
import { EspalierError } from '../../src/model/index.ts'
import type { FaultOrder, Sandbox, Seed } from '../../src/sandbox/index.ts'
import { HOUR, MINUTE, openWorld, type World } from './running.ts'

const DAY = 24 * HOUR
const SIZES = [0.5, 1, 2, 4]

export interface MonthOptions {
  readonly projects: number
  /** With faults; two quiet ones follow. */
  readonly days: number
  readonly interval: number
  /** From 0 up to 1, the same in each run. */
  readonly random: () => number
  readonly onDay?: (day: number, requests: number) => void
}

export interface Month {
  readonly requests: number
  readonly mostRequestsAMinute: number
  readonly commits: number
  readonly edits: number
  readonly writes: number
  readonly agentRestarts: number
  readonly applied: number
  /** By cause. */
  readonly missedWindows: Readonly<Record<string, number>>
  /** Calls that interrupt, of projects with a window, outside of it. */
  readonly outsideWindow: readonly string[]
  /** Of projects that are not Synced at the end. */
  readonly unsettled: readonly string[]
  readonly heapMiB: number
}

type RecordedRequest = ReturnType<Sandbox['control']['requests']>[number]

const projectId = (index: number): string => `month-${String(index).padStart(8, '0')}`
const computeId = (index: number): string => `ep-month-${String(index).padStart(8, '0')}`
/** Two of three have a window of two hours, at an hour of their own. */
const hourOf = (index: number): number | undefined => (index % 3 === 2 ? undefined : (index * 5) % 22)
const two = (hour: number): string => String(hour).padStart(2, '0')

const manifestOf = (index: number, size: number): string => {
  const hour = hourOf(index)
  const window =
    hour === undefined
      ? ''
      : `restartWindow: { days: [mon, tue, wed, thu, fri, sat, sun], from: "${two(hour)}:00", to: "${two(hour + 2)}:00", timezone: UTC }\n`
  return `version: 1\nproject: ${projectId(index)}\n${window}branches:\n  main: { primary: { size: ${size}, scaleToZero: never } }\n`
}

const seedOf = (count: number): Seed => ({
  projects: Array.from({ length: count }, (_, index) => ({
    id: projectId(index),
    branches: [
      {
        id: `br-month-${String(index).padStart(8, '0')}`,
        name: 'main',
        computes: [{ id: computeId(index), size: 1, scaleToZero: 'never' as const }],
      },
    ],
  })),
})

const CHANCE = 0.004
const endless = { times: 0, chance: CHANCE } as const
const FAULTS: readonly FaultOrder[] = [
  { on: 'request', effect: { kind: 'latency', ms: 2_000, jitterMs: 1_000 }, ...endless },
  { on: 'request', effect: { kind: 'reset-before' }, ...endless },
  { on: 'request', effect: { kind: 'reset-after' }, ...endless },
  { on: 'request', effect: { kind: 'malformed' }, ...endless },
  { on: 'request', effect: { kind: 'html' }, ...endless },
  { on: 'request', effect: { kind: 'status', status: 500 }, ...endless },
  { on: 'request', effect: { kind: 'status', status: 503, retryAfter: 1 }, ...endless },
  { on: 'request', effect: { kind: 'status', status: 429 }, ...endless },
  { on: 'request', effect: { kind: 'lock' }, ...endless },
  { on: 'request', method: 'GET', effect: { kind: 'lag', ms: 5_000 }, ...endless },
  { on: 'operation', effect: { kind: 'fail' }, ...endless },
  { on: 'operation', effect: { kind: 'slow', ms: 20_000 }, ...endless },
]

export const simulateMonth = async (options: MonthOptions): Promise<Month> => {
  const { projects: count, days, interval, random } = options
  const minutes = new Map<number, number>()
  const world: World = await openWorld(seedOf(count), {
    random,
    onHandled: () => {
      const minute = Math.floor(world.stage.clock.now() / MINUTE)
      minutes.set(minute, (minutes.get(minute) ?? 0) + 1)
    },
  })
  const { stage } = world
  const sizes = Array.from({ length: count }, () => 1)
  const outside: string[] = []
  let [commits, edits, agentRestarts] = [0, 0, 0]
  const lines: string[] = []
  const run = () =>
    world.start({
      interval,
      gitInterval: 10 * MINUTE,
      random,
      policy: { onGit: 'apply', onDrift: 'revert', onUnrecorded: 'report', allow: new Set(['restart']) },
      log: (line) => lines.push(line),
    })
  try {
    await world.declareAll(sizes.map((size, index) => manifestOf(index, size)))
    let agent = await run()
    await world.pass(2 * HOUR)
    for (const fault of FAULTS) stage.sandbox.control.addFault(fault)
    for (let day = 0; day < days; day += 1) {
      for (let part = 0; part < 4; part += 1) {
        for (const index of sizes.keys()) {
          if (random() < 0.05) {
            sizes[index] = SIZES[Math.floor(random() * SIZES.length)] ?? 1
            commits += 1
          }
          if (random() >= 0.02) continue
          edits += 1
          // A change that the faults swallow was never made.
          await world.edit(projectId(index), computeId(index), { suspend_timeout_seconds: 600 }).catch(() => undefined)
        }
        await world.declareAll(sizes.map((size, index) => manifestOf(index, size)))
        if (random() < 0.2) world.breakGit(new EspalierError('E_GIT', 'git ls-remote failed: no route to host'))
        if (random() < 0.3) {
          agent.stop()
          if (random() < 0.5) agent.stop()
          await world.pass(Math.floor(random() * HOUR))
          agent = await run()
          agentRestarts += 1
        }
        await world.pass(6 * HOUR)
        world.breakGit(undefined)
        outside.push(...outsideOf(stage.sandbox.control.requests()))
        stage.sandbox.control.clearRequests()
      }
      options.onDay?.(day, stage.sandbox.requests)
    }
    stage.sandbox.control.clearFaults()
    // What was refused or reverted too often is a person's to settle.
    await world.pass(DAY)
    await agent.reconcile('all')
    await world.pass(DAY)
    return {
      requests: stage.sandbox.requests,
      mostRequestsAMinute: Math.max(...minutes.values()),
      commits,
      edits,
      agentRestarts,
      applied: lines.filter((line) => line.includes('  done: ')).length,
      writes: world.writes().length,
      missedWindows: countBy(lines.flatMap((line) => /window missed: .*, (\S+)$/.exec(line)?.[1] ?? [])),
      outsideWindow: outside,
      unsettled: agent
        .view()
        .projects.filter(({ state }) => state !== 'Synced')
        .map(({ id, state, reason, message }) => `${id} ${state} ${reason ?? ''} ${message ?? ''}`),
      heapMiB: heapMiB(),
    }
  } finally {
    await world.close()
  }
}

/** What interrupts: a new size of a compute that is in use. A change by hand lets some fall asleep. */
const outsideOf = (requests: readonly RecordedRequest[]): readonly string[] =>
  requests.flatMap(({ at, method, path, body = '', status, answer }) => {
    const hour = hourOf(Number(/month-(\d+)/.exec(path)?.[1]))
    if (hour === undefined || method === 'GET' || status >= 300 || !body.includes('autoscaling')) return []
    const { endpoint } = (answer ?? {}) as { readonly endpoint?: { readonly current_state: string } }
    if (endpoint === undefined || endpoint.current_state === 'idle') return []
    const now = new Date(at).getUTCHours()
    return now >= hour && now < hour + 2 ? [] : [`${new Date(at).toISOString()} ${method} ${path} ${body}`]
  })

const countBy = (words: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries([...groupBy(words, (word) => word)].map(([word, all]) => [word, all.length]))

export const heapMiB = (): number => {
  globalThis.gc?.()
  return Math.round(process.memoryUsage().heapUsed / 2 ** 20)
}

export const seeded = (): (() => number) => {
  let last = 20_260_101
  return () => {
    last = (last * 48_271) % 2_147_483_647
    return last / 2_147_483_647
  }
}
