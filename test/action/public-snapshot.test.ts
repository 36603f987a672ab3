/** What is published of a plan does not depend on what must stay hidden in the live project. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { publicPlan, publicSnapshot } from '../../src/action/public-snapshot.ts'
import { digestsOf, nextRecord, writeRecord } from '../../src/action/record.ts'
import { jsonPlan } from '../../src/apply/index.ts'
import { declaredPolicies, parseManifests } from '../../src/manifest/index.ts'
import type { Observed, ObservedBranch, ObservedCompute, Plan } from '../../src/model/index.ts'
import { changeAnnotations, diagnosticAnnotations, planComment, terminalPlan } from '../../src/report/index.ts'
import { encodeSavedPlan, type Manifests, planSnapshot } from '../../src/workflow/index.ts'
import { runs } from '../long-runs.ts'

const TAKEN_AT = '2026-11-20T10:00:00.000Z'
const LATER = '2026-11-21T10:00:00.000Z'

/** Everything that nobody may read in the plan of an untrusted pull request. */
interface Hidden {
  readonly word: string
  /** The live value of every setting, also of the declared one, and a preloaded library. */
  readonly value: string
  readonly number: number
  /** Undeclared branches, by name, with the computes on them. */
  readonly branches: readonly (Omit<ObservedBranch, 'id' | 'isDefault'> & { readonly types: readonly Type[] })[]
  /** Undeclared replicas on a declared branch. */
  readonly replicas: readonly string[]
}
type Type = ObservedCompute['type']

const live = ({ word, value, number, branches, replicas }: Hidden): Observed => {
  const branch = (id: string, more: Partial<ObservedBranch> = {}): ObservedBranch => ({
    id: `br-${id}`,
    name: id,
    isDefault: id === 'main',
    isProtected: false,
    usage: { activeSeconds: number, computeSeconds: number },
    ...more,
  })
  const compute = (id: string, on: string, type: Type, name?: string): ObservedCompute => ({
    id,
    branchId: `br-${on}`,
    type,
    host: `${id}.host.test`,
    state: id.endsWith('idle') ? 'idle' : 'active',
    attributes: {
      ...(name === undefined ? {} : { name }),
      size: { min: 1, max: id.includes(word) ? 4 : 1 },
      scaleToZero: -1,
      disabled: id === 'ep-idle',
      postgresSettings: { 'app.secret': value, 'app.declared': value, max_connections: `${number}` },
      postgresPreload: [value],
    },
    settings: {
      pg_settings: { 'app.secret': value, 'app.declared': value, max_connections: `${number}` },
      preload_libraries: { enabled_libraries: [value] },
    },
    updatedAt: new Date(number).toISOString(),
    proxyHost: word,
    regionId: word,
    provisioner: word,
    creationSource: word,
  })
  const primary = (on: string): ObservedCompute => compute(`ep-${on}`, on, 'read_write', word)
  return {
    takenAt: TAKEN_AT,
    missing: [],
    unreadable: [{ id: 'other', message: word, hint: word }],
    projects: [
      {
        id: 'shop',
        name: word,
        branches: [
          ...['main', 'dev', 'idle', 'empty'].map((id) => branch(id)),
          branch('leaving', { expiresAt: '2026-11-20T10:10:00.000Z' }),
          branch('expiring', { expiresAt: LATER }),
          ...branches.map(({ types: _, ...one }, at) => branch(`${word}-${at}`, one)),
        ],
        computes: [
          ...['main', 'dev', 'idle', 'leaving', 'expiring'].map(primary),
          compute('ep-reporting', 'main', 'read_only', 'reporting'),
          ...replicas.map((name, at) => compute(`ep-${word}-r${at}`, 'main', 'read_only', name || undefined)),
          ...branches.flatMap(({ types }, at) =>
            types.map((type, index) => {
              // A pull request may guess one of the ids.
              const id = number % 2 === 0 && at + index === 0 ? 'ep-guessed' : `ep-${word}-${at}-${index}`
              return compute(id, `${word}-${at}`, type, word)
            }),
          ),
        ],
        settings: {
          subscription: 'scale_v3',
          quota: { computeSeconds: number, activeSeconds: number },
          maintenanceScheduledFor: LATER,
          period: { start: '2026-11-01T00:00:00Z', end: '2026-12-01T00:00:00Z' },
        },
        pastOperations: [{ action: word, durationMs: number, computeId: 'ep-main', at: TAKEN_AT }],
        operationsSince: TAKEN_AT,
      },
    ],
  }
}

const manifests = (...texts: readonly string[]): Manifests => {
  const files = texts.map((text, at) => ({ path: `${at}.yaml`, text: text.startsWith('v') ? text : `${SHOP}${text}` }))
  const loaded = parseManifests(files)
  expect(loaded.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  const policies = declaredPolicies(loaded.desired)
  const paths = files.map(({ path }) => path)
  return { loaded, paths, ...(policies.length === 0 ? {} : { review: { policies: { files: paths, policies } } }) }
}

const SHOP = 'version: 1\nproject: shop\n'
const BRANCHES = `branches:
  main: { primary: { size: 1 }, replicas: { reporting: { size: 1 } } }
  dev: { primary: { size: 1 } }
`
const to = (find: string, replacement: string): string => BRANCHES.replace(find, replacement)
const OTHER = 'version: 1\nproject: other\nbranches: { main: { primary: { size: 1 } } }\n'
const WINDOW = 'restartWindow: { days: [sun], from: "02:00", to: "04:00", timezone: UTC }\n'
const RULE = 'rules: [{ match: "{leaving,expiring,idle}", primary: { size: 1 } }]\n'
const policy = (level: string): string =>
  `policy:\n${['maxSize: 0.25', 'maxProjectCu: 1', 'maxReplicas: 0', 'maxCuHours: 1', 'scaleToZero: required']
    .map((rule, at) => `  - { name: p${at}, level: ${level}, reason: r, rule: { ${rule} } }\n`)
    .join('')}`
const BIGGER = BRANCHES.replaceAll('size: 1', 'size: 2')

/** Files of the base and of the head. Together, they fill every field of a plan. */
const PULL_REQUESTS: readonly (readonly [base: string | readonly string[], head: string | readonly string[]])[] = [
  [BRANCHES, BIGGER],
  [BRANCHES, `price: { cuHour: 1, currency: USD }\ntier: free\n${BIGGER}`],
  [
    BRANCHES,
    `tier: free\n${to('reporting:', `${Array.from({ length: 11 }, (_, at) => `r${at}: { size: 1 }, `).join('')}reporting:`)}`,
  ],
  // Each attribute of a compute. Only live values that are not settings may be shown.
  [
    BRANCHES,
    to(
      'size: 1',
      'size: { min: 2, max: 4 }, scaleToZero: 5m, name: mine, passwordlessAccess: false, pooler: { enabled: true, mode: transaction }, postgres: { settings: { app.declared: x } }',
    ),
  ],
  [BRANCHES, to('size: 1', 'size: 1, postgres: { preload: [x] }')],
  [to('size: 1', 'size: 1, scaleToZero: never, disabled: false, postgres: { preload: [x] }'), BRANCHES],
  [to('size: 1', 'size: 1, postgres: { settings: { app.declared: x } }'), BRANCHES],
  [BRANCHES, to('size: 1', 'disabled: true')],
  [`${BRANCHES}  idle: { primary: {} }\n`, BRANCHES],
  [BRANCHES, to('reporting', 'weekly')],
  [BRANCHES, to('reporting: { size: 1', 'weekly: { renamedFrom: reporting, size: 1')],
  [BRANCHES, to('dev:', 'develop:')],
  [BRANCHES, to('main: { primary: { size: 1 }', 'main: { primary: { id: ep-guessed, size: 2 }')],
  // A move, and a replica that becomes a primary.
  [`${BRANCHES}  empty: {}\n`, to('dev: { primary: {', 'empty: { primary: { id: ep-dev,')],
  [BRANCHES, `${BRANCHES}  empty: { primary: { id: ep-reporting, size: 1 } }\n`],
  [`prune: true\n${BRANCHES}`, 'prune: true\nbranches: { main: { protect: true, primary: absent }, dev: {} }\n'],
  [
    to('main: {', 'main: { protect: true,'),
    `prune: true\n${to('main: { primary: { size: 1 }', 'main: { primary: absent')}`,
  ],
  [WINDOW + BRANCHES, BIGGER],
  [BRANCHES + RULE, BRANCHES + RULE.replace('size: 1', 'size: 2')],
  [BRANCHES, `${BRANCHES}rules: [{ match: "h*", primary: { size: 2 } }, { match: "**", primary: { size: 2 } }]\n`],
  [BRANCHES, BRANCHES + policy('deny')],
  [BRANCHES + policy('warn'), BIGGER + policy('warn')],
  [BRANCHES + policy('deny'), BIGGER],
  [
    [BRANCHES, OTHER],
    [BIGGER, OTHER.replace('size: 1', 'size: 2')],
  ],
  [[BRANCHES, OTHER], BRANCHES],
  [BIGGER, `# a comment\n${BIGGER}`],
]

type Sides = (typeof PULL_REQUESTS)[number]

const parsed = new Map<Sides[number], Manifests>()
const parse = (side: Sides[number]): Manifests => {
  const known = parsed.get(side) ?? manifests(...[side].flat())
  parsed.set(side, known)
  return known
}

/** Everything that the Action publishes of a plan. */
const published = (sides: Sides, observed: Observed, isTrusted = false) => {
  const [base, head] = [parse(sides[0]), parse(sides[1])]
  const publicPart = (whole: Observed) => publicSnapshot(base.loaded.desired, head.loaded.desired, whole)
  const planned = planSnapshot(observed, head, { base, ...(isTrusted ? {} : { publicPart }) })
  const { result, comparison } = planned
  const none = { introduced: [], drift: [], settled: [], released: [] }
  const plan = isTrusted ? result.plan : publicPlan(result.plan)
  const origin = comparison?.origin ?? none
  const about = { head: 'a'.repeat(40), base: 'b'.repeat(40), plane: 'sandbox' }
  const view = { plan, origin, introducedBy: 'this pull request', takenAt: TAKEN_AT, notes: [] } as const
  const json = jsonPlan(plan, { origin: { base: about.base, ...origin } })
  const texts = [
    json,
    planComment({ ...view, recordOf: (shown) => writeRecord(nextRecord(about, shown, 100, undefined)) }),
    terminalPlan(plan, { color: false, width: 100 }, { takenAt: TAKEN_AT }),
    JSON.stringify(diagnosticAnnotations(result.ok ? [] : result.diagnostics)),
    JSON.stringify(changeAnnotations(plan.changes, origin.drift)),
  ]
  return { json, planned, text: texts.join('\n') }
}

const word = fc.stringMatching(/^hid[a-z]{3,9}$/)
const hidden: fc.Arbitrary<Hidden> = fc.record({
  word,
  value: fc.stringMatching(/^S3CRET_[A-Z]{2,9}$/),
  number: fc.integer({ min: 1, max: 999_999 }),
  branches: fc.uniqueArray(
    fc.record({
      // Some names are like those that the manifests declare.
      name: fc.oneof(word, fc.constantFrom('mainn', 'develo', 'reporting', 'week')),
      isProtected: fc.boolean(),
      types: fc.uniqueArray(fc.constantFrom<Type>('read_write', 'read_only')),
      expiresAt: fc.constantFrom('2026-11-20T10:10:00.000Z', LATER),
      parentId: word,
    }),
    { maxLength: 3, selector: ({ name }) => name },
  ),
  replicas: fc.uniqueArray(fc.oneof(fc.constant(''), word, fc.constantFrom('reportin', 'weekl')), { maxLength: 3 }),
})

const SECRET: Hidden = {
  word: 'hidden',
  value: 'S3CRET',
  number: 700_007,
  branches: [{ name: 'hidden-too', isProtected: false, types: ['read_write'] }],
  replicas: [''],
}

const NOTHING: Hidden = { word: 'none', value: 'NONE', number: 1, branches: [], replicas: [] }

// promise: hidden-values
// promise: hidden-names
test('the same is published, whatever is hidden', () => {
  const plain = new Map(PULL_REQUESTS.map((sides) => [sides, published(sides, live(NOTHING)).text]))
  for (const sides of PULL_REQUESTS) expect(published(sides, live(SECRET)).text).toBe(plain.get(sides))
  fc.assert(
    fc.property(fc.constantFrom(...PULL_REQUESTS), hidden, (sides, some) => {
      expect(published(sides, live(some)).text).toBe(plain.get(sides))
    }),
    { numRuns: runs(600) },
  )
})

test('an approval of what an untrusted pull request shows counts for the plan after its merge', () => {
  for (const sides of PULL_REQUESTS.filter(([, head]) => /name: mine|preload: \[x\]/.test(`${head}`))) {
    const [seen, merged] = [false, true].map((isTrusted) => {
      const { changes } = JSON.parse(published(sides, live(SECRET), isTrusted).json) as Plan
      return changes.flatMap(digestsOf)
    })
    expect(seen).toEqual(merged)
  }
})

/** The paths of the fields that a JSON Schema names. */
const pathsOf = ({ properties = {}, items, anyOf = [], oneOf = [] }: JsonSchema, at = ''): readonly string[] => [
  ...Object.entries(properties).flatMap(([key, one]) => [`${at}${key}`, ...pathsOf(one, `${at}${key}.`)]),
  ...[items ?? {}, ...anyOf, ...oneOf].flatMap((one) =>
    one === items || one.type === 'object' ? pathsOf(one, at) : [],
  ),
]

interface JsonSchema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
}

const has = (value: unknown, [key, ...rest]: readonly string[]): boolean => {
  if (key === undefined) return true
  if (Array.isArray(value)) return value.some((one) => has(one, [key, ...rest]))
  return typeof value === 'object' && value !== null && key in value && has(value[key as never], rest)
}

/** They are hidden, or do not depend on the live project, or are changes like those in `changes`. */
const ELSEWHERE =
  /^((projectNames|cost|unmanaged|estimates|selection|waves)\b.*|policies\.(ref|results\.overrid.*)|origin\.(introduced|drift|settled)\..*|.*\.(use_defaults|name))$/

test('these pull requests fill every field of a plan that may be shown', () => {
  const plans = PULL_REQUESTS.map((sides) => JSON.parse(published(sides, live(SECRET)).json))
  const fields = pathsOf(JSON.parse(readFileSync('schemas/plan.schema.json', 'utf8')))
  expect(fields.filter((path) => !ELSEWHERE.test(path) && !has(plans, path.split('.')))).toEqual([])
})

// promise: undeclared-settings
test('no undeclared setting is published or saved for a trusted author', () => {
  // The live value of what a manifest declares is shown.
  for (const sides of PULL_REQUESTS.filter(([, head]) => !/preload|settings/.test(`${head}`))) {
    const { planned, text } = published(sides, live(SECRET), true)
    expect(`${text}${encodeSavedPlan(planned)}`.match(/.*S3CRET.*/g), JSON.stringify(sides)).toBeNull()
  }
})

test.each<[what: string, Sides, words: RegExp]>([
  [
    'the name of a declared setting',
    [BRANCHES, to('size: 1', 'size: 1, postgres: { settings: { app.declared: x } }')],
    /app\.declared \(hidden\) → x/,
  ],
  [
    'a change of a hidden value to the placeholder',
    [BRANCHES, to('size: 1', 'size: 1, postgres: { settings: { app.declared: (hidden) } }')],
    /app\.declared \(\(hidden\)\) → \(hidden\)/,
  ],
  [
    'a live value that the base declares',
    [
      to('size: 1', 'size: 1, postgres: { settings: { app.declared: S3CRET } }'),
      to('size: 1', 'size: 1, postgres: { settings: { app.declared: x } }'),
    ],
    /app\.declared S3CRET → x/,
  ],
  [
    'the results of policies for declared computes',
    [BRANCHES + policy('deny'), BIGGER + policy('deny')],
    /`p0` denies 2 CU for primary on main/,
  ],
  ['totals of what is declared', [BRANCHES + policy('warn'), BIGGER + policy('warn')], /`p1` warns about 6 CU/],
  ['a warning about a quota, for what is declared', [BRANCHES, `tier: free\n${BIGGER}`], /W_QUOTA.*4380/],
  [
    'a branch that a rule of the base matches',
    [BRANCHES + RULE, BRANCHES + RULE.replace('size: 1', 'size: 2')],
    /primary on idle/,
  ],
  [
    'a replica without a name that the base claims',
    [to('reporting', 'weekly'), `# a comment\n${to('reporting', 'weekly')}`],
    /ep-hidden-r0/,
  ],
])('%s is shown', (_what, sides, words) => {
  expect(published(sides, live(SECRET)).text).toMatch(words)
})
