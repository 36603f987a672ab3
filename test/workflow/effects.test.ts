/** What a change makes different, from the manifest to every output. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { publicPlan } from '../../src/action/public-snapshot.ts'
import { jsonPlan } from '../../src/apply/index.ts'
import { parseManifests } from '../../src/manifest/index.ts'
import { EFFECT_KINDS, type Effect, maxConnections, type Plan, SIZE_TABLE } from '../../src/model/index.ts'
import { planPage } from '../../src/report/html/index.ts'
import { planComment, terminalPlan } from '../../src/report/index.ts'
import { planSnapshot } from '../../src/workflow/index.ts'
import { runs } from '../long-runs.ts'
import { type LiveCompute, PROJECT, planOf, world } from '../planner/world.ts'

interface Case {
  /** The live primary of the default branch, and what `main` or all branches declare. */
  readonly live: LiveCompute
  readonly main?: string
  readonly branches?: string
  readonly effect: Omit<Effect, 'warns'>
  readonly words: string
  /** The warning on the default branch, and on a branch that is neither default nor protected. */
  readonly warning?: string
  readonly elsewhere?: string
}

const shrinks = { warning: 'W_SHRINKS', elsewhere: 'W_SHRINKS' }
const now = 'now'
const later = 'later'

const CASES: readonly Case[] = [
  {
    live: { size: 2 },
    main: '{ size: 1 }',
    effect: { kind: 'max-connections', before: 839, after: 419, when: now },
    words: 'max_connections 839 → 419',
    ...shrinks,
  },
  // A new minimum alone can change it.
  {
    live: { size: { min: 0.25, max: 4 } },
    main: '{ size: { min: 0.5, max: 4 } }',
    effect: { kind: 'max-connections', before: 839, after: 1678, when: now },
    words: 'max_connections 839 → 1,678',
  },
  {
    live: { size: 40, scaleToZero: -1 },
    main: '{ size: 1 }',
    effect: { kind: 'max-connections', before: '4000+', after: 419, when: now },
    words: 'max_connections 4,000 or more (not in the size table) → 419',
    ...shrinks,
  },
  {
    live: { size: 5 },
    main: '{ size: 4 }',
    effect: { kind: 'cache', before: { min: 15, max: 15 }, after: { min: 12, max: 12 }, when: now },
    words: 'cache up to 15 → 12 GB',
    ...shrinks,
  },
  {
    live: { size: { min: 2, max: 4 } },
    main: '{ size: { min: 1, max: 4 } }',
    effect: { kind: 'cache', before: { min: 6, max: 12 }, after: { min: 3, max: 12 }, when: now },
    words: 'cache at least 6 → 3 GB',
    warning: 'W_SHRINKS',
  },
  {
    live: { size: 40, scaleToZero: -1 },
    main: '{ size: 1 }',
    effect: { kind: 'temporary-disk', before: 600, after: 20, when: now },
    words: 'temp disk 600 → 20 GiB',
    ...shrinks,
  },
  {
    live: { size: { min: 1, max: 2 } },
    main: '{ size: { min: 0.25, max: 2 } }',
    effect: { kind: 'shared-compute', before: false, after: true, when: now },
    words: 'shared compute at its minimum of 0.25 CU',
    warning: 'W_SHRINKS',
  },
  {
    live: { size: 0.25 },
    main: '{ size: 1 }',
    effect: { kind: 'shared-compute', before: true, after: false, when: now },
    words: 'no longer shared compute',
  },
  {
    live: { scaleToZero: -1 },
    main: '{ scaleToZero: 5m }',
    effect: { kind: 'sleep', before: false, after: 300, when: later },
    words: 'later: suspends after 5m without activity; idle sessions end, the next connection waits a few hundred ms',
    warning: 'W_SLEEPS',
  },
  {
    live: { scaleToZero: 0 },
    main: '{ scaleToZero: 2m }',
    effect: { kind: 'sleep', before: 300, after: 120, when: later },
    words: 'later: suspends after 2m without activity; idle sessions end',
    warning: 'W_SLEEPS',
  },
  {
    live: { scaleToZero: 300 },
    main: '{ scaleToZero: 10m }',
    effect: { kind: 'sleep', before: 300, after: 600, when: later },
    words: 'later: suspends after 10m without activity',
  },
  {
    live: { size: 8, scaleToZero: 300 },
    main: '{ size: 18, scaleToZero: never }',
    effect: { kind: 'sleep', before: 300, after: false, when: later },
    words: 'always active',
  },
  {
    live: { size: 4 },
    main: '{ size: { min: 1, max: 8 } }',
    effect: { kind: 'autoscaling', before: false, after: true, when: now },
    words: 'autoscales from 1 CU',
    // The cache may become smaller.
    warning: 'W_SHRINKS',
  },
  {
    live: { size: { min: 1, max: 8 } },
    main: '{ size: 8 }',
    effect: { kind: 'autoscaling', before: true, after: false, when: now },
    words: 'no longer autoscales',
  },
  {
    live: { state: 'idle' },
    main: '{ disabled: true }',
    effect: { kind: 'disabled', before: false, after: true, when: later },
    words: 'later: no connection can start it',
    warning: 'W_DISABLED',
  },
  {
    live: { disabled: true },
    main: '{ disabled: false }',
    effect: { kind: 'disabled', before: true, after: false, when: later },
    words: 'connections can start it again',
  },
  {
    live: {},
    main: '{ postgres: { settings: { wal_buffers: 16MB, work_mem: 8MB } } }',
    effect: { kind: 'next-restart', before: [], after: ['wal_buffers'], when: later },
    words: 'wal_buffers: effective after the next restart',
  },
  ...[
    ['main: { primary: { disabled: true } }', 'main is the default branch, and its primary is disabled'],
    ['main: { primary: absent }', 'main is the default branch, and its primary is deleted'],
    [
      'main: { primary: absent }, dev: { primary: { id: ep-main } }',
      'main is the default branch, and its primary is moved to dev',
    ],
    ['main: { replicas: { r: { id: ep-main } } }', 'the primary of the default branch is replaced by a replica'],
    [
      'main: {}, dev: { replicas: { r: { id: ep-main } } }',
      'the primary of the default branch is replaced by a replica',
    ],
  ].map(
    ([branches = '', words = '']): Case => ({
      live: { id: 'ep-main' },
      branches,
      effect: { kind: 'default-branch', before: true, after: false, when: now },
      words,
      warning: 'W_DEFAULT_BRANCH',
    }),
  ),
]

type Place = 'default' | 'plain' | 'protected by the service' | 'protected by the manifest'

const planned = (primary: LiveCompute, branches: string, place: Place = 'default'): Plan => {
  // The first branch is the default branch.
  const first = place === 'default' ? {} : { root: {} }
  const main = { main: { primary, protected: place === 'protected by the service' } }
  const declared =
    place === 'protected by the manifest' ? branches.replace('main: {', 'main: { protect: true,') : branches
  const text = `version: 1\ntier: none\nproject: ${PROJECT}\nbranches: { ${declared} }\n`
  const loaded = parseManifests([{ path: 'espalier.yaml', text }])
  expect(loaded.diagnostics).toEqual([])
  const around = world({ ...first, ...main, dev: {} })
  const observed = { ...around, projects: around.projects.map((project) => ({ ...project, settings: {} })) }
  return planSnapshot(observed, { loaded, paths: ['espalier.yaml'] }, {}).result.plan
}

const EVERY_OUTPUT: Readonly<Record<string, (plan: Plan) => string>> = {
  terminal: (plan) => terminalPlan(plan, { color: false, width: 500 }, { detail: true }),
  comment: (plan) =>
    planComment({ plan, origin: { introduced: plan.changes, drift: [], settled: [], released: [] }, notes: [] }),
  page: (plan) => planPage(plan, { version: '1', sha256: () => '' }),
}

test('the cases of this table cover every effect', () => {
  expect(new Set(CASES.map(({ effect }) => effect.kind))).toEqual(new Set(EFFECT_KINDS))
})

test.each(CASES)('$words', ({ live, main, branches = `main: { primary: ${main} }`, effect, words, warning }) => {
  const plan = planned(live, branches)
  const warns = warning !== undefined && effect.kind !== 'autoscaling'
  const expected = warns ? { ...effect, warns } : effect
  const [change] = JSON.parse(jsonPlan(plan)).changes
  expect(change.effects).toContainEqual(expected)
  expect(plan.warnings.map(({ code }) => code)).toEqual(warning === undefined ? [] : expect.arrayContaining([warning]))
  for (const [name, output] of Object.entries(EVERY_OUTPUT)) expect(output(plan), name).toContain(words)
  // Anyone may open an untrusted pull request, and its effects follow from what it is shown anyway.
  expect(publicPlan(plan).changes[0]?.effects).toContainEqual(expected)
})

const SETTINGS = CASES.filter(({ main }) => main !== undefined)

test.each(SETTINGS)('warns only where it matters: $words', ({ live, main, warning, elsewhere }) => {
  const codes = (place: Place) => [
    ...new Set(planned(live, `main: { primary: ${main} }`, place).warnings.map(({ code }) => code)),
  ]
  expect(codes('plain')).toEqual(elsewhere === undefined ? [] : [elsewhere])
  const important = warning === undefined ? [] : [warning]
  expect(codes('protected by the service')).toEqual(important)
  expect(codes('protected by the manifest')).toEqual(important)
})

test('a warning says what to do about a full disk and too few connections, and a refused change causes none', () => {
  const [warning] = planned({ size: 4 }, 'main: { primary: { size: 1 } }', 'plain').warnings
  expect(warning?.message).toBe(
    `ep-br-main on branch \`main\` of project \`${PROJECT}\`: max_connections 1,678 → 419, temp disk 60 → 20 GiB.`,
  )
  expect(warning?.hint).toMatch(
    /pooled host.*10,000.*`No space left on device` \(SQLSTATE 53100\).*long-running.*temporary files.*replication/,
  )
  expect(planned({}, 'main: { primary: absent }', 'protected by the manifest').warnings).toEqual([])
})

const cus = SIZE_TABLE.steps.map(({ cu }) => cu)
const size = fc
  .tuple(fc.constantFrom(...cus), fc.constantFrom(...cus))
  .map(([a, b]) => ({ min: Math.min(a, b), max: Math.max(a, b) }))

test('between any two sizes, exactly the values that differ are shown, and a loss of connections or disk always warns', () => {
  fc.assert(
    fc.property(size, size, (before, after) => {
      const branches = { main: { primary: { size: after, scaleToZero: -1 } } }
      const { changes } = planOf({ branches }, world({ main: { primary: { size: before, scaleToZero: -1 } } }))
      const effects = new Map(
        changes.flatMap((change) => change.effects.map((effect) => [effect.kind, effect] as const)),
      )
      for (const { before: was, after: is } of effects.values()) expect(is).not.toEqual(was)
      const connections = [maxConnections(before), maxConnections(after)] as const
      const disk = [Math.max(20, 15 * before.max), Math.max(20, 15 * after.max)] as const
      if (connections[0] !== connections[1]) expect(effects.has('max-connections')).toBe(true)
      expect(effects.get('max-connections')?.warns === true).toBe(connections[1] < connections[0])
      expect(effects.has('temporary-disk')).toBe(disk[0] !== disk[1])
      expect(effects.get('temporary-disk')?.warns === true).toBe(disk[1] < disk[0])
      expect(effects.has('autoscaling')).toBe(before.min < before.max !== after.min < after.max)
      expect(effects.has('shared-compute')).toBe(before.min < 1 !== after.min < 1)
    }),
    { numRuns: runs(300) },
  )
})

test('what to check is said once, whichever effects each change has', () => {
  const text = `version: 1\nproject: ${PROJECT}\nbranches: { main: { primary: { size: 1 } }, dev: { primary: { size: 8 } } }\n`
  const live = world({ main: { primary: { size: 40, scaleToZero: -1 } }, dev: { primary: { size: 9 } } })
  const loaded = parseManifests([{ path: 'espalier.yaml', text }])
  const { plan } = planSnapshot(live, { loaded, paths: ['espalier.yaml'] }, {}).result
  expect(plan.warnings.filter(({ code }) => code === 'W_SHRINKS')).toHaveLength(2)
  for (const [name, output] of Object.entries({
    ...EVERY_OUTPUT,
    terminal: (one: Plan) => terminalPlan(one, { color: false, width: 500 }),
  })) {
    for (const hint of ['can use the pooled host', 'SQLSTATE 53100', 'less cache is enough'])
      expect(output(plan).split(hint), `${name}: ${hint}`).toHaveLength(2)
  }
})

test('"no one is interrupted" has a "now" only if users are interrupted later', () => {
  const words = (live: LiveCompute, main: string) => {
    const plan = planned(live, `main: { primary: ${main} }`, 'plain')
    return Object.entries(EVERY_OUTPUT).map(([name, output]) => [
      name,
      /no one is interrupted( now)?/i.exec(output(plan))?.[1],
    ])
  }
  const all = (now: string | undefined) => Object.keys(EVERY_OUTPUT).map((name) => [name, now])
  expect(words({ scaleToZero: -1 }, '{ scaleToZero: 5m }')).toEqual(all(' now'))
  expect(words({ scaleToZero: 300 }, '{ scaleToZero: 10m }')).toEqual(all(undefined))
  expect(words({}, '{ name: orders }')).toEqual(all(undefined))
})
