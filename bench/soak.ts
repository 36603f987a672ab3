/**
 * `npm run soak` applies changes to a large fleet in virtual time, while faults occur constantly. It prints a table and
 * writes soak.json.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiError } from '../src/api/index.ts'
import { applyPlan } from '../src/apply/index.ts'
import { CONSENTS, type Plan } from '../src/model/index.ts'
import type { FaultOrder, Sandbox, Seed } from '../src/sandbox/index.ts'
import { planLive, readManifests } from '../src/workflow/index.ts'
import { operationFaults, requestFaults } from '../test/agent/month-world.ts'
import { openStage, type Stage } from '../test/reliability/stage.ts'
import { rateMeter } from './rate-meter.ts'

const PROJECTS = Number(process.argv[2] ?? 500)
const BRANCHES = ['a', 'b', 'c', 'd', 'e']
/** What fraction of the requests or operations each kind of fault affects. */
const CHANCE = 0.02
/** If more applies than this are needed, the changes do not converge. */
const MOST_APPLIES = 40
const MOST_MINUTES = 15
const PAUSE_MS = 60_000
const OPERATION_TIMEOUT_MS = 120_000

const projectId = (index: number): string => `soak-${String(index).padStart(8, '0')}`
const primaryId = (project: number, branch: string): string => `ep-soak-${branch}-${String(project).padStart(8, '0')}`
const replicaId = (project: number, branch: string): string => `${primaryId(project, branch)}-reporting`
const branchId = (project: number, branch: string): string => `br-soak-${branch}-${String(project).padStart(8, '0')}`
const projects = Array.from({ length: PROJECTS }, (_, index) => index)

const seed: Seed = {
  projects: projects.map((project) => ({
    id: projectId(project),
    branches: BRANCHES.map((name) => ({
      id: branchId(project, name),
      name,
      computes: [
        { id: primaryId(project, name), size: 1, scaleToZero: 'never' as const },
        {
          id: replicaId(project, name),
          type: 'read_only' as const,
          name: 'reporting',
          size: 0.25,
          scaleToZero: 'never' as const,
        },
      ],
    })),
  })),
}

/** Requires four changes in each project: two updates, a create and a delete. */
const manifestOf = (project: number): string => `version: 1
project: ${projectId(project)}
branches:
  a: { primary: { size: 2 }, replicas: { reporting: { size: 0.25 } } }
  b: { primary: { size: 1 }, replicas: { reporting: { size: 0.25 }, extra: { size: 1 } } }
  c: { primary: { size: 1 }, replicas: { reporting: { size: 0.5 } } }
  d: { primary: { size: 1 }, replicas: { reporting: { size: 0.25 } } }
  e: { primary: absent, replicas: { reporting: { size: 0.25 } } }
`

/** The computes that another client may delete, one in every fiftieth project. */
const VICTIMS = projects.filter((project) => project % 50 === 7).map((project) => replicaId(project, 'd'))

const FAULTS: readonly FaultOrder[] = [
  ...requestFaults(CHANCE, CHANCE),
  { on: 'request', effect: { kind: 'status', status: 429, retryAfter: 2 }, times: 0, chance: CHANCE },
  ...projects
    .filter((project) => project % 50 === 3)
    .map(
      (project): FaultOrder => ({
        on: 'request',
        path: `/projects/${projectId(project)}/endpoints`,
        effect: {
          kind: 'rival-create',
          endpoint: { branch_id: branchId(project, 'd'), type: 'read_only', name: 'rival' },
        },
        after: 1,
      }),
    ),
  ...VICTIMS.map(
    (id): FaultOrder => ({
      on: 'request',
      path: `/projects/soak-${id.slice('ep-soak-d-'.length, -'-reporting'.length)}/endpoints`,
      effect: { kind: 'rival-delete', endpoint_id: id },
      after: 1,
    }),
  ),
  ...operationFaults(CHANCE, CHANCE),
]

/** Random numbers from a fixed seed. Which request gets which number still depends on the order of the requests. */
const seeded = (): (() => number) => {
  let last = 20_260_101
  return () => {
    last = (last * 48_271) % 2_147_483_647
    return last / 2_147_483_647
  }
}

interface Live {
  readonly id: string
  readonly branchId: string
  readonly type: string
  readonly name?: string | undefined
}

const livesOf = ({ control }: Sandbox): readonly Live[] =>
  control.dump().changes.flatMap((change) => ('put' in change && change.put.kind === 'compute' ? [change.put] : []))

/** Returns the invariants that are violated. They must hold whatever faults occur. */
const brokenPromises = (sandbox: Sandbox, deleted: ReadonlySet<string>): readonly string[] => {
  const live = livesOf(sandbox)
  const ids = new Set(live.map(({ id }) => id))
  const mayBeGone = new Set([...deleted, ...VICTIMS])
  const lost = projects
    .flatMap((project) => BRANCHES.flatMap((name) => [primaryId(project, name), replicaId(project, name)]))
    .filter((id) => !ids.has(id) && !mayBeGone.has(id))
  const places = live
    .filter(({ name }) => name !== 'rival')
    .map(({ branchId: branch, type, name }) => `${branch}/${type === 'read_write' ? 'primary' : name}`)
  const twice = places.filter((place, index) => places.indexOf(place) !== index)
  return [...lost.map((id) => `lost: ${id}`), ...twice.map((place) => `created twice: ${place}`)]
}

const heapMiB = (): number => {
  globalThis.gc?.()
  return Math.round(process.memoryUsage().heapUsed / 2 ** 20)
}

interface Run {
  readonly stage: Stage
  readonly heaps: number[]
  readonly struck: Map<string, number>
  stepsDone: number
  stepsNotDone: number
}

/**
 * Injects the faults.
 *
 * @returns a function that counts how often the faults occurred, then removes them.
 */
const beset = ({ stage, struck }: Run): (() => void) => {
  const { control } = stage.sandbox
  const ordered = FAULTS.map((fault) => control.addFault(fault))
  return () => {
    const waiting = new Map(control.faults().map((one) => [one.id, one]))
    for (const { id, fault } of ordered) {
      const { kind } = fault.effect
      // If a fault is no longer listed, it has occurred as often as requested.
      struck.set(kind, (struck.get(kind) ?? 0) + (waiting.get(id)?.struck ?? fault.times))
    }
    control.clearFaults()
  }
}

/**
 * Applies the manifests once.
 *
 * @returns the plan, or `undefined` if the projects could not be read.
 */
const applyOnce = async (run: Run, manifests: Awaited<ReturnType<typeof readManifests>>): Promise<Plan | undefined> => {
  const { stage, heaps } = run
  const { sandbox, clock } = stage
  const api = stage.connect({ lockTimeoutMs: OPERATION_TIMEOUT_MS })
  const relent = beset(run)
  const aFifth = (PROJECTS * 4) / 5
  let ended = 0
  try {
    const { result, observed } = await stage.during(
      planLive(api, manifests, { concurrency: 8, readsOperations: false }),
    )
    if (!result.ok) throw new Error(result.diagnostics.map(({ message }) => message).join('\n'))
    const outcome = await stage.during(
      applyPlan({
        plan: result.plan,
        observed,
        api,
        clock,
        consent: { allow: new Set(CONSENTS) },
        operationTimeoutMs: OPERATION_TIMEOUT_MS,
        onEvent: (event) => {
          stage.busy()
          if (event.type !== 'step-end') return
          // Clear the sandbox's request log, because it must not be counted as memory of the apply.
          sandbox.control.clearRequests()
          ended += 1
          if (ended % aFifth === 0) heaps.push(heapMiB())
        },
      }),
    )
    run.stepsDone += outcome.steps.filter(({ status }) => status === 'done').length
    run.stepsNotDone += outcome.steps.filter(({ status }) => status !== 'done').length
    return result.plan
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  } finally {
    relent()
    await api.close()
  }
}

/** Unblocks operations that are stuck, as the operators of the service would do. */
const setFree = async ({ sandbox }: Stage): Promise<void> => {
  sandbox.control.load(sandbox.control.dump())
  await sandbox.clock.advance(PAUSE_MS)
}

const soak = async (): Promise<number> => {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-soak-'))
  const file = join(folder, 'fleet.yaml')
  await writeFile(file, projects.map(manifestOf).join('---\n'))
  const manifests = await readManifests([file])
  const deletedByPlans = new Set<string>(projects.map((project) => primaryId(project, 'e')))
  const began = performance.now()
  let rateLimited = 0
  const stage = await openStage({
    seed,
    random: seeded(),
    rateLimits: true,
    onHandled: (_method, _path, status) => {
      if (status === 429) rateLimited += 1
    },
  })
  const meter = rateMeter(() => stage.clock.now())
  subscribe('undici:request:create', meter.count)
  const run: Run = { stage, heaps: [heapMiB()], struck: new Map(), stepsDone: 0, stepsNotDone: 0 }
  const started = stage.clock.now()
  let [applies, changes, left] = [0, 0, -1]
  const wrong: string[] = []
  while (left !== 0 && applies < MOST_APPLIES && performance.now() - began < MOST_MINUTES * 60_000) {
    const plan = await applyOnce(run, manifests)
    applies += 1
    if (plan !== undefined) {
      left = plan.steps.length
      changes ||= left
      wrong.push(...plan.steps.flatMap(({ kind, compute }) => strayDelete(kind, compute.id, deletedByPlans)))
    }
    wrong.push(...brokenPromises(stage.sandbox, deletedByPlans))
    await setFree(stage)
  }
  unsubscribe('undici:request:create', meter.count)
  if (left !== 0) wrong.push(`${left} steps are left after ${applies} applies`)
  const injected429 = run.struck.get('status') ?? 0
  const figures = {
    node: process.version,
    projects: PROJECTS,
    computes: PROJECTS * BRANCHES.length * 2,
    changes,
    faultChance: CHANCE,
    faultsStruck: Object.fromEntries([...run.struck].toSorted()),
    applies,
    stepsDone: run.stepsDone,
    stepsNotDone: run.stepsNotDone,
    requests: meter.total,
    mostRequestsInAnyMinute: meter.most.minute,
    mostRequestsInAnySecond: meter.most.second,
    answers429: rateLimited,
    virtualMinutes: Math.round((stage.clock.now() - started) / 60_000),
    heapMiB: [...run.heaps, heapMiB()],
    seconds: Math.round((performance.now() - began) / 1_000),
    wrong,
  }
  if (meter.most.minute > 700 || meter.most.second > 40) wrong.push('more requests than the service allows')
  if (rateLimited > injected429) wrong.push('the service rejected requests over its rate limit')
  if (!isFlat(run.heaps)) wrong.push('memory grows')
  await stage.sandbox.close()
  await rm(folder, { recursive: true })
  await writeFile(new URL('soak.json', import.meta.url), `${JSON.stringify(figures, null, 2)}\n`)
  for (const [name, value] of Object.entries(figures)) console.log(`${name.padEnd(26)}${JSON.stringify(value)}`)
  return wrong.length
}

/**
 * Compares the checkpoints within the first apply. The first checkpoint is ignored, because it was taken before the
 * apply, when no fleet was in memory.
 */
const isFlat = ([, first = 0, ...rest]: readonly number[]): boolean => rest.every((heap) => heap < first * 1.25)

/** Returns a problem if a plan deletes a compute that the manifests still declare. */
const strayDelete = (kind: string, id: string | undefined, asked: ReadonlySet<string>): readonly string[] =>
  kind === 'delete' && !asked.has(id ?? '') ? [`a plan deletes ${id}`] : []

process.exitCode = (await soak()) === 0 ? 0 : 1
