import { describe, expect, test } from 'vitest'
import {
  decodePlanFile,
  encodePlanFile,
  isSamePlan,
  judgeSavedPlan,
  type Present,
  withActivityOf,
} from '../../src/apply/index.ts'
import { EspalierError } from '../../src/base/index.ts'
import type { AttributeChange, Change, Diagnostic, Observed, Plan, PolicyResult } from '../../src/model/index.ts'
import { plan } from '../../src/planner/index.ts'
import { isLong } from '../long-runs.ts'
import {
  type Declared,
  type DeclaredDocument,
  desired,
  type LiveBranch,
  PROJECT,
  planOf,
  world,
} from '../planner/world.ts'
import { leavesOf, type Path, signed, withLeaf } from './sign-plan.ts'

const DIGEST = 'a'.repeat(64)
const VERSION = '1.0.0'

const save = (declared: DeclaredDocument, observed: Observed): string =>
  encodePlanFile({
    plan: planOf(declared, observed),
    observed,
    manifestDigest: DIGEST,
    manifests: ['espalier.yaml'],
    espalier: VERSION,
    createdAt: '2026-01-01T00:00:00.000Z',
  })

interface Later {
  readonly observed: Observed
  readonly declared: DeclaredDocument
  readonly manifestDigest?: string
  readonly espalierVersion?: string
}

type Planned = ReturnType<typeof plan>
const plans = new Map<string, Planned>()
/** Each plan is made once, because most tests compare many edited files with the same plans. */
const planned = (declared: DeclaredDocument, observed: Observed): Planned => {
  const key = JSON.stringify([declared, observed])
  const made = plans.get(key) ?? plan(desired(declared), observed)
  plans.set(key, made)
  return made
}

const judge = (text: string, later: Later) => {
  const { observed, declared, manifestDigest = DIGEST, espalierVersion = VERSION } = later
  const file = decodePlanFile(text, 'plan.json')
  return judgeSavedPlan(file, {
    observed,
    manifestDigest,
    espalierVersion,
    fresh: planned(declared, observed),
    rewound: planned(declared, withActivityOf(file.seen, observed)),
  })
}

const WINDOW = { days: ['sat'], from: '02:00', to: '04:00', timezone: 'UTC' } as const
const SEEN: Readonly<Record<string, LiveBranch>> = {
  main: { primary: { id: 'ep-1', size: 4, settings: { work_mem: '4MB', other: 'x' } }, replicas: [{ id: 'ep-r' }] },
  dev: { primary: { id: 'ep-2', state: 'idle' } },
  swap: { primary: { id: 'ep-3' } },
  empty: {},
  kept: { primary: { id: 'ep-4' } },
  left: { primary: { id: 'ep-5', name: 'somebody' } },
}
const ASKED: DeclaredDocument = {
  parkOn: 'empty',
  branches: {
    main: {
      primary: { size: 2, settings: { work_mem: '8MB' }, restartWindow: WINDOW },
      replicas: { bi: {}, more: { size: 1 } },
    },
    dev: { primary: { id: 'ep-3', size: 2 } },
    swap: { primary: { id: 'ep-2', scaleToZero: 600 } },
    kept: { protect: true, primary: 'absent' },
  },
  rules: [{ match: 'preview/*', primary: { size: 1 } }],
}
const live = (changed: Readonly<Record<string, LiveBranch>> = {}): Observed => {
  const seen = world({ ...SEEN, ...changed })
  const pastOperations = [{ action: 'apply_config', durationMs: 1_500 }]
  return { ...seen, projects: seen.projects.map((project) => ({ ...project, pastOperations })) }
}
const text = save(ASKED, live())
const saved: unknown = JSON.parse(text)
const nameOf = (path: Path): string => path.join('.')
const leaves = leavesOf(saved)
/** One value for each path of the format. In long runs, all values. */
const tried = isLong
  ? leaves
  : [
      ...new Map(
        leaves.toReversed().map((path) => [path.map((key) => (typeof key === 'number' ? 0 : key)).join('.'), path]),
      ).values(),
    ]

/** Another value that the schema accepts: for an enum, another member. */
const other = (leaf: unknown): unknown => {
  if (typeof leaf === 'number') return leaf + 1
  if (typeof leaf === 'boolean') return !leaf
  const WORDS: Readonly<Record<string, string>> = {
    none: 'restart',
    restart: 'none',
    'may-restart': 'none',
    move: 'delete',
    delete: 'move',
    update: 'create',
    create: 'update',
    read_write: 'read_only',
    read_only: 'read_write',
    sat: 'sun',
    PATCH: 'DELETE',
    DELETE: 'PATCH',
    POST: 'PATCH',
    warning: 'error',
    UTC: 'Europe/Berlin',
    '02:00': '02:30',
    '04:00': '04:30',
    '2026-01-01T00:00:00.000Z': '2026-01-01T00:00:01.000Z',
  }
  const word = String(leaf)
  if (WORDS[word] !== undefined) return WORDS[word]
  if (/^[0-9a-f]{64}$/.test(word)) return 'b'.repeat(64)
  if (/^[A-Z_]+$/.test(word)) return word === 'VALUE_DIFFERS' ? 'PRUNED' : 'VALUE_DIFFERS'
  return word.startsWith('/') ? `${word}0` : `${word}x`
}

const refusalOf = (edited: string): string | undefined => {
  try {
    decodePlanFile(edited, 'plan.json')
    return undefined
  } catch (error) {
    return error instanceof EspalierError ? error.code : String(error)
  }
}

describe('an edited saved plan', () => {
  test('the unedited plan of these tests has content in every part and is current', () => {
    const parts = new Set(leaves.map(([first, second]) => `${first}.${first === 'plan' ? second : ''}`))
    for (const part of ['changes', 'steps', 'unmanaged', 'estimates', 'summary', 'warnings', 'projects']) {
      expect(parts).toContain(`plan.${part}`)
    }
    expect(judge(text, { observed: live(), declared: ASKED })).toEqual({ kind: 'current' })
  })

  // promise: edited-plan
  test('an edit to any value is detected by the digest', () => {
    const accepted = tried.filter((path) => {
      const edited = JSON.stringify(withLeaf(saved, path, other))
      expect(edited).not.toBe(JSON.stringify(saved))
      return !['E_STALE', 'E_PLAN_FILE'].includes(refusalOf(edited) ?? '')
    })
    expect(accepted.map(nameOf)).toEqual([])
  })

  // promise: forged-plan
  test('an unknown key is rejected anywhere, even with a recomputed digest', () => {
    const places = [
      [],
      ['plan'],
      ['plan', 'summary'],
      ['plan', 'changes', 0],
      ['plan', 'steps', 0, 'request'],
      ['seen', PROJECT],
    ]
    const accepted = places.filter((place) => {
      const edited = JSON.parse(text)
      place.reduce((part, key) => part[key], edited).note = 'approved'
      return refusalOf(signed(edited)) !== 'E_PLAN_FILE'
    })
    expect(accepted).toEqual([])
  })

  // promise: forged-plan
  test('an edit is rejected even if the file names other manifests and another version', () => {
    // If the manifests differ, declarations may have moved within them.
    const isShown = (path: Path) => path[0] === 'plan' && path[1] !== 'estimates' && !path.includes('source')
    const shown = tried.filter(isShown)
    const accepted = shown.filter((path) => {
      const edited = withLeaf(saved, path, other) as object
      const again = signed({ ...edited, manifestDigest: 'c'.repeat(64), espalier: '0.9.0' })
      return refusalOf(again) === undefined && judge(again, { observed: live(), declared: ASKED }).kind === 'current'
    })
    expect(accepted.map(nameOf)).toEqual([])
  })

  // promise: forged-plan
  test.each([
    ['any project', []],
    ['a compute that it changes', ['computes', 'ep-1']],
    ['an unmanaged compute', ['computes', 'ep-5']],
  ])('a plan without %s in its snapshot is rejected', (_what, path) => {
    const edited = JSON.parse(text)
    const whole = ['seen', PROJECT, ...path]
    Reflect.deleteProperty(
      whole.slice(0, -1).reduce((part, key) => part[key], edited),
      whole.at(-1) ?? '',
    )
    expect(judge(signed(edited), { observed: live(), declared: ASKED })).toMatchObject({
      kind: 'edited',
      where: expect.arrayContaining([`seen: ${whole.at(-1)} is missing`]),
    })
  })

  test('an edit to the added capacity is rejected even if a compute has changed since', () => {
    const edited = JSON.parse(text)
    edited.plan.summary.capacity.after.maxCu += 1
    const observed = live({ left: { primary: { id: 'ep-5', name: 'somebody', size: 8 } } })
    expect(judge(signed(edited), { observed, declared: ASKED }).kind).not.toBe('current')
  })

  test('different whitespace and a different key order do not change the plan', () => {
    const turned = Object.fromEntries(Object.entries(saved as object).reverse())
    expect(decodePlanFile(JSON.stringify(turned), 'plan.json')).toEqual(saved)
  })

  // promise: forged-plan
  test('an edit to any value except the estimates is rejected even with a recomputed digest', () => {
    const shown = tried.filter(([first, second]) => first === 'plan' && second !== 'estimates')
    const accepted = shown.filter((path) => {
      const edited = signed(withLeaf(saved, path, other) as object)
      if (refusalOf(edited) !== undefined) return false
      return judge(edited, { observed: live(), declared: ASKED }).kind !== 'edited'
    })
    expect(shown.length).toBeGreaterThan(isLong ? 300 : 100)
    expect(accepted.map(nameOf)).toEqual([])
  })

  test.each([
    ['a change removed', (one: never[]) => one.slice(1), 'changes'],
    ['a warning removed', (one: never[]) => one.slice(1), 'warnings'],
    ['an unmanaged compute removed', (one: never[]) => one.slice(1), 'unmanaged'],
    ['a step removed', (one: never[]) => one.slice(1), 'steps'],
    ['its changes reordered', (one: never[]) => [...one].reverse(), 'changes'],
  ])('a plan with %s is rejected even with a recomputed digest', (_what, edit, part) => {
    const edited = JSON.parse(text)
    edited.plan[part] = edit(edited.plan[part])
    expect(judge(signed(edited), { observed: live(), declared: ASKED })).toMatchObject({ kind: 'edited' })
  })

  // promise: forged-plan
  test('a plan with a wrong project name is rejected if the name is known', () => {
    const named = (name: string, isKnown = true) => {
      const [project, ...others] = live().projects
      if (project === undefined) throw new Error('no project')
      const { name: _own, ...unnamed } = project
      return { ...live(), projects: [isKnown ? { ...unnamed, name } : unnamed, ...others] }
    }
    const edited = JSON.parse(text)
    edited.plan.projectNames = { [PROJECT]: 'staging' }
    expect(judge(signed(edited), { observed: named('production'), declared: ASKED })).toEqual({
      kind: 'stale',
      moved: [`The project ${PROJECT} is named production, but the plan names it staging.`],
    })
    for (const observed of [named('staging'), named('', false)]) {
      expect(judge(signed(edited), { observed, declared: ASKED }).kind).toBe('current')
    }
  })

  test('an edited count is reported as an edit, with the claimed and the actual value', () => {
    const edited = JSON.parse(text)
    edited.plan.summary.restarts = 0
    expect(judge(signed(edited), { observed: live(), declared: ASKED })).toEqual({
      kind: 'edited',
      where: ['summary.restarts: 0 → 2'],
    })
  })

  test('an edit is rejected even if the project has changed since', () => {
    const edited = JSON.parse(text)
    edited.plan.changes[0].impact = 'none'
    const observed = live({ left: { primary: { id: 'ep-5', name: 'somebody', size: 8 } } })
    expect(judge(signed(edited), { observed, declared: ASKED })).toMatchObject({ kind: 'stale' })
    edited.plan.changes[0].impact = JSON.parse(text).plan.changes[0].impact
    expect(judge(signed(edited), { observed, declared: ASKED })).toEqual({ kind: 'current' })
  })
})

describe('a compute that has since been suspended or started', () => {
  const declared: DeclaredDocument = {
    branches: { main: { primary: { size: 2 }, replicas: { r: { disabled: true } } } },
  }
  const main = (primary: 'active' | 'idle', replica: 'active' | 'idle'): Observed =>
    world({
      main: { primary: { id: 'ep-1', state: primary }, replicas: [{ id: 'ep-r', name: 'r', state: replica }] },
    })

  // promise: state-changes-after-plan
  test.each([
    ['active', 'idle'],
    ['idle', 'active'],
  ] as const)('a plan saved while its compute was %s is still current when the compute is %s', (then, now) => {
    expect(judge(save(declared, main(then, then)), { observed: main(now, now), declared })).toEqual({ kind: 'current' })
  })

  test('a plan saved while its compute was starting is still current when the compute is active', () => {
    const { projects, ...rest } = main('idle', 'idle')
    const starting = projects.map((project) => ({
      ...project,
      computes: project.computes.map((compute) => ({ ...compute, pendingState: 'active' })),
    }))
    const file = save(declared, { ...rest, projects: starting })
    expect(judge(file, { observed: main('active', 'active'), declared })).toEqual({ kind: 'current' })
  })

  test('a plan does not contain what is only displayed of a compute, and is still current if it changes', () => {
    const displayed = (at: string): Observed => {
      const seen = live()
      const fields = { updatedAt: at, suspendedAt: at, lastActive: at, regionId: at, proxyHost: at, provisioner: at }
      const projects = seen.projects.map((project) => ({
        ...project,
        computes: project.computes.map((compute) => ({ ...compute, ...fields, creationSource: at })),
      }))
      return { ...seen, projects }
    }
    const file = save(ASKED, displayed('2026-01-01T00:00:01Z'))
    expect(file).toBe(text)
    expect(judge(file, { observed: displayed('2026-01-01T00:00:02Z'), declared: ASKED })).toEqual({ kind: 'current' })
  })

  test('a plan is still current even if a new plan would park the other compute first', () => {
    const ring = (idle: string): Observed =>
      world({
        a: { primary: { id: 'ep-a', state: idle === 'a' ? 'idle' : 'active' } },
        b: { primary: { id: 'ep-b', state: idle === 'b' ? 'idle' : 'active' } },
        park: {},
      })
    const swap: DeclaredDocument = {
      parkOn: 'park',
      branches: { a: { primary: { id: 'ep-b' } }, b: { primary: { id: 'ep-a' } } },
    }
    expect(planOf(swap, ring('a')).steps[0]?.compute.id).not.toBe(planOf(swap, ring('b')).steps[0]?.compute.id)
    expect(judge(save(swap, ring('a')), { observed: ring('b'), declared: swap })).toEqual({ kind: 'current' })
  })

  test('a plan is stale if another compute would now become the declared replica', () => {
    const two = (idle: number): Observed =>
      world({
        main: {
          replicas: [
            { id: 'ep-x', size: 4, state: idle === 0 ? 'idle' : 'active' },
            { id: 'ep-y', size: 4, state: idle === 1 ? 'idle' : 'active' },
          ],
        },
      })
    const adopt: DeclaredDocument = { branches: { main: { replicas: { bi: { size: 2 } } } } }
    expect(judge(save(adopt, two(0)), { observed: two(1), declared: adopt })).toMatchObject({
      kind: 'stale',
      moved: expect.arrayContaining([expect.stringContaining('ep-x → ep-y')]),
    })
  })
})

describe('the message of a stale plan', () => {
  const declared: DeclaredDocument = { branches: { main: { primary: { size: 2 } } } }
  const before = world({ main: { primary: { id: 'ep-1' } }, other: { primary: { id: 'ep-2' } } })
  const file = save(declared, before)
  const later = (branches: Readonly<Record<string, LiveBranch>>, rest: Partial<Later> = {}) =>
    judge(file, { observed: world(branches), declared, ...rest })

  test.each<readonly [string, Readonly<Record<string, LiveBranch>>, readonly string[]]>([
    [
      'a compute with a different size',
      { main: { primary: { id: 'ep-1', size: 4 } }, other: { primary: { id: 'ep-2', size: 8 } } },
      ['ep-1 (primary on main): size 1 CU → 4 CU'],
    ],
    [
      'a compute replaced by another one',
      { main: { primary: { id: 'ep-3' } }, other: { primary: { id: 'ep-2' } } },
      ['ep-1 (primary on main): deleted since', 'ep-3 (primary on main): created since'],
    ],
    [
      'a compute that already has the planned size',
      { main: { primary: { id: 'ep-1', size: 2 } }, other: { primary: { id: 'ep-2' } } },
      ['ep-1 (primary on main): size 1 CU → 2 CU'],
    ],
    [
      'the computes of a branch in order',
      { main: { primary: { id: 'ep-1', size: 4 }, replicas: [{ id: 'ep-0' }] }, other: { primary: { id: 'ep-2' } } },
      ['ep-0 (replica on main): created since', 'ep-1 (primary on main): size 1 CU → 4 CU'],
    ],
    [
      'a deleted branch',
      { other: { primary: { id: 'ep-2' } } },
      ['ep-1 (primary on br-main): deleted since', expect.stringContaining('has no branch `main`')],
    ],
  ])('reports %s', (_what, branches, moved) => {
    expect(later(branches)).toEqual({ kind: 'stale', moved })
  })

  const primary = { id: 'ep-1' }
  const bi = { replicas: [{ id: 'ep-2', name: 'bi' }] }
  type Branches = Readonly<Record<string, LiveBranch>>
  test.each<readonly [string, Declared, Branches, Branches, string]>([
    [
      'a replica that has left its branch',
      { size: 1 },
      { main: { primary, ...bi }, other: {} },
      { main: { primary }, other: bi },
      'ep-2 (replica "bi" on other): branch main → other',
    ],
    [
      'a change of a primary that is to become a replica of another branch',
      { id: 'ep-2' },
      { main: { primary }, other: { primary: { id: 'ep-2' } } },
      { main: { primary }, other: { primary: { id: 'ep-2', size: 4 } } },
      'ep-2 (primary on other): size 1 CU → 4 CU',
    ],
  ])('reports %s', (_what, replica, then, now, words) => {
    const declared = { branches: { main: { replicas: { bi: replica } } } }
    const verdict = judge(save(declared, world(then)), { observed: world(now), declared })
    expect(verdict).toEqual({ kind: 'stale', moved: [words] })
  })

  test('does not contain the values of Postgres settings, which may be secret', () => {
    const withSetting = (value: string): Observed =>
      world({ main: { primary: { id: 'ep-1', settings: { work_mem: '4MB', 'app.secret': value } } } })
    const asked: DeclaredDocument = { branches: { main: { primary: { settings: { work_mem: '8MB' } } } } }
    const verdict = judge(save(asked, withSetting('one')), { observed: withSetting('two'), declared: asked })
    const moved = ['Live settings that are not declared, and that the plan keeps, have changed.']
    expect(verdict).toEqual({ kind: 'stale', moved })
    const replaced: DeclaredDocument = { branches: { main: { primary: 'absent', replicas: { bi: { id: 'ep-1' } } } } }
    for (const declared of [asked, replaced, { branches: {} }]) {
      expect(save(declared, withSetting('hush-hush'))).not.toContain('hush-hush')
    }
    expect(judge(save(replaced, withSetting('one')), { observed: withSetting('two'), declared: replaced })).toEqual({
      kind: 'stale',
      moved,
    })
  })

  test('a setting that the plan does not rely on may change', () => {
    const withSetting = (value: string): Observed =>
      world({ main: { primary: { id: 'ep-1', settings: { 'app.secret': value } } } })
    const asked: DeclaredDocument = { branches: { main: { primary: { size: 8 } } } }
    const verdict = judge(save(asked, withSetting('one')), { observed: withSetting('two'), declared: asked })
    expect(verdict).toEqual({ kind: 'current' })
  })

  test('reports changed manifests', () => {
    const asked: DeclaredDocument = { branches: { main: { primary: { size: 4 } } } }
    expect(judge(file, { observed: before, declared: asked, manifestDigest: 'b'.repeat(64) })).toEqual({
      kind: 'stale',
      moved: ['The manifests have changed.', 'update primary on main (ep-1): attributes.size.after: 2 CU → 4 CU'],
    })
  })

  test('a plan is current even if lines were added above its declarations', () => {
    const moved = JSON.parse(text)
    const below = (one: { source?: { line: number } }) => {
      if (one.source !== undefined) one.source.line += 3
    }
    for (const change of moved.plan.changes) for (const one of [change, ...change.attributes]) below(one)
    for (const one of [...moved.plan.steps, ...moved.plan.warnings]) below(one)
    const unmoved = { observed: live(), declared: ASKED }
    expect(judge(signed(moved), { ...unmoved, manifestDigest: 'b'.repeat(64) })).toEqual({ kind: 'current' })
    expect(judge(signed(moved), unmoved)).toMatchObject({ kind: 'edited' })
  })

  test('reports a different version of espalier only if its plan differs', () => {
    expect(judge(file, { observed: before, declared, espalierVersion: '2.0.0' })).toEqual({ kind: 'current' })
    const asked: DeclaredDocument = { branches: {} }
    expect(judge(file, { observed: before, declared: asked, espalierVersion: '2.0.0' })).toEqual({
      kind: 'stale',
      moved: ['It was saved by espalier 1.0.0; this is 2.0.0.', 'update primary on main (ep-1): no longer planned'],
    })
  })

  test('a plan is current even if unmanaged computes were created', () => {
    const branches = { main: { primary: { id: 'ep-1' } }, 'preview/7': { primary: { id: 'ep-7' } } }
    expect(later(branches)).toEqual({ kind: 'current' })
    expect(later(branches, { manifestDigest: 'b'.repeat(64) })).toEqual({ kind: 'current' })
  })
})

describe('a plan that differs from the one that is planned now', () => {
  const seen = Object.fromEntries(['main', 'other', 'third'].map((name) => [name, { primary: { id: `ep-${name}` } }]))
  const observed = world(seen)
  const declared = { branches: { main: { primary: { size: 2 } }, other: { primary: { size: 2 } } } }
  const base = planOf(declared, observed)
  const { summary } = base
  const [main, second] = base.changes as readonly [Change, Change]
  const file = decodePlanFile(save(declared, observed), 'plan.json')

  const OLD = { manifestDigest: 'b'.repeat(64) }
  const RESIZED = { observed: world({ ...seen, third: { primary: { id: 'ep-third', size: 8 } } }) }
  const PROTECTED = { observed: world({ ...seen, third: { ...seen.third, protected: true } }) }
  const OTHER = 'The manifests have changed.'
  const TITLE = 'update primary on main (ep-main)'
  const IMPACT = `${TITLE}: impact: none → restart`

  const planning = (now: Partial<Plan>) => ({ ok: true, plan: { ...base, ...now } }) as const
  const SAME = { observed, manifestDigest: DIGEST, espalierVersion: VERSION }
  const compare = (then: Partial<Plan>, now: Partial<Plan>, present: Partial<Present> = {}) => {
    const saved = { ...file, plan: { ...base, ...then } as typeof file.plan }
    return judgeSavedPlan(saved, { ...SAME, fresh: planning(now), rewound: planning(now), ...present })
  }
  const current = { kind: 'current' }
  const stale = (...moved: unknown[]) => ({ kind: 'stale', moved })
  const edited = (...where: unknown[]) => ({ kind: 'edited', where })
  const like = (words: string) => expect.stringContaining(words)

  const warning = (code: Diagnostic['code'], message = 'w', severity: Diagnostic['severity'] = 'warning') => ({
    warnings: [{ code, severity, message } as Diagnostic],
  })
  const skipping = (sentence: string) => ({ skipped: [{ ...main, change: 'x', sentence }] })
  const judged = (...results: readonly (readonly [PolicyResult['outcome'], string])[]) => ({
    policies: { files: [], changes: [], results: results.map(([outcome, message]) => ({ outcome, message })) } as never,
  })
  const wave = (name: string, ...projects: string[]) => ({ waves: [{ name, projects }] })
  const changing = (one: Partial<Change>) => ({ changes: [{ ...main, ...one }, second] })
  const none = { warnings: [] }
  const count = { summary: { ...summary, restarts: 0 } }
  const counted = 'summary.restarts: 0 → 2'
  const { before, after } = summary.capacity
  const total = { before: { ...before, computes: 9 }, after: { ...after, computes: 9 } }
  const totals = ['before', 'after'].map((key) => `summary.capacity.${key}.computes: 9 → 3`)
  const otherSteps = {
    steps: base.steps.map((one) => (one.change === main.id ? { ...one, impact: 'none' as const } : one)),
  }
  const long = [warning('W_SHRINKS', 'x'.repeat(80)), warning('W_SHRINKS', 'y'.repeat(81))] as const

  test.each<readonly [string, Partial<Plan>, Partial<Plan>, Partial<Present>, unknown]>([
    ['a count, with other manifests', count, {}, OLD, stale(OTHER, counted)],
    ['the time of a skip', { ...count, ...skipping('in 2 h') }, skipping('in 1 h'), OLD, stale(OTHER, counted)],
    [
      'its denials',
      { ...count, ...judged(['denied', 'A'], ['denied', 'B'], ['warned', 'D']) },
      judged(['denied', 'B'], ['denied', 'C'], ['warned', 'E']),
      {},
      stale('C.', 'No longer denied: A.', counted),
    ],
    ['a wave', wave('a', PROJECT), wave('b', PROJECT), {}, edited('waves[0][0]: a → b')],
    ['a wave, with a resized compute', wave('a', PROJECT), wave('b', PROJECT), RESIZED, stale('waves[0][0]: a → b')],
    ['a project that was not planned', wave('a', PROJECT, 'x'), wave('a', PROJECT), {}, current],
    ['an unsettled compute', warning('W_UNSETTLED'), none, {}, current],
    ['an expected usage', warning('W_QUOTA', 'about 190'), warning('W_QUOTA', 'about 200'), {}, current],
    ['an unused rule, with a resized compute', warning('W_RULE_UNUSED'), none, RESIZED, current],
    ['a shadowed rule, with a resized compute', warning('W_RULE_SHADOWED'), none, RESIZED, current],
    ['a warning, with a resized compute', warning('W_SHRINKS'), none, RESIZED, edited(like('warnings[0]: {"code":'))],
    ['a warning of 80 characters', ...long, {}, edited(`warnings[0].message: ${'x'.repeat(80)} → ${'y'.repeat(79)}…`)],
    ['an unmanaged compute that was resized', { unmanaged: [] }, {}, RESIZED, current],
    ['an unmanaged compute', { unmanaged: [] }, {}, PROTECTED, edited(like('unmanaged[0]: nothing → {"'))],
    ['the total capacity', { summary: { ...summary, capacity: total } }, {}, PROTECTED, edited(...totals)],
    ['a change, with other manifests', changing({ impact: 'none' }), {}, OLD, stale(OTHER, IMPACT)],
    ['a change, with a protected branch', changing({ impact: 'none' }), {}, PROTECTED, stale(IMPACT)],
    ['a change, with a resized compute', changing({ impact: 'none' }), {}, RESIZED, stale(IMPACT)],
    ['its steps, with other manifests', otherSteps, {}, OLD, stale(OTHER, `${TITLE}: other steps are planned`)],
    ['its changes', { changes: [second] }, {}, OLD, stale(OTHER, `${TITLE}: planned now, but not before`)],
  ])('a difference in %s is reported unless it does not matter', (_what, then, now, present, verdict) => {
    expect(compare(then, now, present)).toEqual(verdict)
  })

  test.each(['fresh', 'rewound'])('is stale because of the errors if there is no %s plan', (which) => {
    const diagnostics = [...warning('W_SHRINKS').warnings, ...warning('E_PLAN_FILE', 'It failed.', 'error').warnings]
    expect(compare({}, {}, { [which]: { ok: false, plan: base, diagnostics } })).toEqual(stale('It failed.'))
  })

  const valued = (texts: Partial<AttributeChange>) =>
    changing({ attributes: main.attributes.map((one) => ({ ...one, ...texts })) })

  test('is stale if a change would now start from another size', () => {
    const fresh = planning(valued({ beforeText: '3 CU' }))
    const where = `${main.id}.attributes[0][1]: 1 CU → 3 CU`
    expect(compare({}, {}, { fresh })).toEqual(stale(like('Other computes are idle now'), where))
  })

  test.each<readonly [string, boolean, Partial<Plan>]>([
    ['another impact', true, changing({ impact: 'none' })],
    ['another order of steps', true, { steps: base.steps.toReversed() }],
    ['another value', false, valued({ afterText: '8 CU' })],
    ['another kind of change', false, changing({ kind: 'move' })],
    ['one step fewer', false, { steps: base.steps.slice(1) }],
    ['a refused step', false, { steps: base.steps.map((one) => ({ ...one, refused: 'No.' })) }],
  ])('whether a plan with %s does the same: %s', (_what, isSame, now) => {
    expect(isSamePlan(base, { ...base, ...now })).toBe(isSame)
  })

  describe('for two projects', () => {
    const both = (one: Observed, z?: Observed): Observed => ({
      ...one,
      projects: [...(z?.projects ?? []).map((project) => ({ ...project, id: 'z' })), ...one.projects],
    })
    const planBoth = (now: Observed) => plan(desired(declared, { ...declared, project: 'z' }), now)
    const then = both(observed, observed)
    const { plan: made } = planBoth(then)
    const header = { manifestDigest: DIGEST, espalier: VERSION, createdAt: '2026-01-01T00:00:00.000Z' }
    const resized = world({ ...seen, main: { primary: { id: 'ep-main', size: 4 } } })
    const crowded = world({ ...seen, main: { ...seen.main, replicas: [{ id: 'ep-new' }] } })
    const cheaper = made.changes.map((one) =>
      one.id.startsWith('z/br-main') ? { ...one, impact: 'none' as const } : one,
    )
    const words = 'ep-main (primary on main): size 1 CU → 4 CU'
    const gone = ['main', 'other', 'third'].map((name) => `z: ep-${name} (primary on br-${name}): deleted since`)

    test.each<readonly [string, Plan, Observed, unknown]>([
      ['a compute of each', made, both(resized, resized), stale(`${PROJECT}: ${words}`, `z: ${words}`)],
      ['an unrelated compute of one', made, both(crowded, resized), stale(`z: ${words}`)],
      ['a branch of one', { ...made, changes: cheaper }, both(PROTECTED.observed, observed), stale(`z: ${IMPACT}`)],
      ['all that one has', made, both(observed), stale(...gone, like('There is no project `z`'))],
    ])('a message about %s names its project', (_what, saved, now, verdict) => {
      const file = decodePlanFile(encodePlanFile({ plan: saved, observed: then, ...header }), 'plan.json')
      const plans = { fresh: planBoth(now), rewound: planBoth(now) }
      expect(judgeSavedPlan(file, { ...SAME, observed: now, ...plans })).toEqual(verdict)
    })
  })
})
