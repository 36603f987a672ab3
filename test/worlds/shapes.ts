/** The small worlds: at most two branches and three computes, one world for each shape of a plan. */
import { CONSENTS, type Consent, type Observed, type Plan, type Selection } from '../../src/model/index.ts'
import { plan } from '../../src/planner/index.ts'
import type { Manifests } from '../../src/workflow/index.ts'
import { planningOf } from '../../src/workflow/selection.ts'
import { type Declared, type DeclaredDocument, desired, type LiveBranch, world } from '../planner/world.ts'
import { manifestsOf } from '../reliability/stage.ts'

export interface Shape {
  readonly live: Observed
  readonly declared: DeclaredDocument
  /** Absent: the whole plan. */
  readonly selection?: Selection
  /** Consents to the first apply. */
  readonly allow: readonly Consent[]
}

const ONE = { size: 1 }
const IDLE = { size: 1, state: 'idle' } as const
const A = [{ name: 'a', size: 1 }]

const LIVE: readonly Readonly<Record<string, LiveBranch>>[] = [
  { main: { primary: ONE }, two: {} },
  { main: { primary: ONE, replicas: A }, two: { primary: ONE } },
  { main: { primary: IDLE }, two: { primary: IDLE } },
  { main: { primary: ONE, replicas: A }, two: {} },
  { main: { primary: ONE }, two: { primary: ONE, protected: true } },
  { main: { primary: IDLE, replicas: A }, two: {} },
]

/** Open for one minute a week, which the runs never meet. */
const CLOSED: Declared = {
  size: 2,
  restartWindow: { days: ['sun'], from: '01:00', to: '01:01', timezone: 'UTC' },
}

type Primary = Declared | 'absent' | undefined
const MAIN: readonly Primary[] = [
  undefined,
  { size: 2 },
  { size: 1, scaleToZero: 300 },
  { size: 1, settings: { work_mem: '8MB' } },
  { size: 1, disabled: true },
  'absent',
  { id: 'ep-br-two' },
  { id: 'ep-br-main-0' },
  CLOSED,
]
const TWO: readonly Primary[] = [undefined, { size: 1 }, { size: 2 }, 'absent', { id: 'ep-br-main' }]
const REPLICAS: readonly Readonly<Record<string, Declared>>[] = [
  {},
  { a: { size: 1 } },
  { a: { size: 2 } },
  { b: { size: 1, renamedFrom: 'a' } },
  { a: { size: 1 }, c: { size: 1 } },
]

export const manifestsFor = ({ declared, selection }: Omit<Shape, 'allow'>): Manifests => ({
  ...manifestsOf(declared),
  ...(selection === undefined ? {} : { selecting: { selection, leftOutProjects: 0 } }),
})

/** Only one branch, or all changes but one. Only those matter that would split a chain of changes. */
const selectionsOf = ({ changes }: Plan): readonly Selection[] => {
  if (changes.length < 2) return []
  const ids = changes.map(({ id }) => id)
  return [
    { branches: ['br-main'] },
    { branches: ['br-two'] },
    ...ids.map((left) => ({ changes: ids.filter((id) => id !== left) })),
  ]
}

const product = function* (): Generator<Omit<Shape, 'allow' | 'selection'>> {
  for (const branches of LIVE) {
    const live = world(branches)
    for (const main of MAIN) {
      for (const two of TWO) {
        for (const replicas of REPLICAS) {
          for (const prune of [false, true]) {
            const shapes = {
              main: { ...(main === undefined ? {} : { primary: main }), replicas },
              two: two === undefined ? {} : { primary: two },
            }
            yield { live, declared: { branches: shapes, prune } }
          }
        }
      }
    }
  }
}

/** @param two the primary of the second branch. */
const small = (live: Readonly<Record<string, LiveBranch>>, main: Primary, two?: Primary): Shape => ({
  allow: CONSENTS,
  live: world(live),
  declared: {
    branches: {
      main: main === undefined ? {} : { primary: main },
      two: two === undefined ? {} : { primary: two },
    },
  },
})

const LONE = { main: { primary: ONE }, two: {} }

/** A change of size, a create, a delete, a move, and a replica that becomes the primary while the old one moves. */
export const SMALLEST: readonly Shape[] = [
  small(LONE, { size: 2 }),
  small(LONE, {}, { size: 1 }),
  small({ ...LONE, two: { primary: ONE } }, {}, 'absent'),
  small(LONE, undefined, { id: 'ep-br-main' }),
  small({ main: { primary: ONE, replicas: A }, two: {} }, { id: 'ep-br-main-0' }, { id: 'ep-br-main' }),
]

/** Plans that differ only in ids and values have the same shape. */
const signature = ({ steps, selection }: Plan, { live: { projects }, allow }: Shape): string => {
  const place = new Map(steps.map(({ id }, index) => [id, index]))
  const idle = new Set(
    projects.flatMap(({ computes }) => computes.flatMap(({ id, state }) => (state === 'idle' ? id : []))),
  )
  const { branches, leftOut, included = [] } = selection ?? {}
  const selected = selection && [branches === undefined, leftOut?.dependent, included.length]
  return JSON.stringify([
    selected,
    steps.map(({ kind, impact, consents, refused, windows, after, compute, request }) => [
      kind,
      impact,
      consents.every((consent) => allow.includes(consent)),
      refused !== undefined,
      windows !== undefined,
      after.map((id) => place.get(id)),
      compute.type,
      idle.has(compute.id ?? ''),
      Object.keys(request.body?.endpoint ?? {}),
    ]),
  ])
}

/** The first world of each shape, smallest plans first. Some consent to every step, others to none. */
export const shapes = (): readonly Shape[] => {
  const found = new Map<string, Shape & { readonly steps: number }>()
  const isNew = (shape: Shape, plan: Plan): boolean => {
    const key = signature(plan, shape)
    if (found.has(key)) return false
    found.set(key, { ...shape, steps: plan.steps.length })
    return true
  }
  for (const world of product()) {
    const result = plan(desired(world.declared), world.live)
    if (!result.ok || result.plan.steps.length === 0) continue
    const isFirst = isNew({ ...world, allow: CONSENTS }, result.plan)
    isNew({ ...world, allow: [] }, result.plan)
    for (const selection of isFirst ? selectionsOf(result.plan) : []) {
      const shape = { ...world, allow: CONSENTS, selection }
      const part = plan(
        desired(world.declared),
        world.live,
        planningOf(manifestsFor(shape), world.live, () => result.plan),
      )
      const { leftOut, included = [] } = part.plan.selection ?? {}
      if (included.length > 0 || (leftOut?.dependent ?? 0) > 0) isNew(shape, part.plan)
    }
  }
  return [...found.values()].sort((a, b) => a.steps - b.steps)
}
