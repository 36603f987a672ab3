/** Random input (manifests, plans, snapshots, responses) causes only diagnostics or an `EspalierError`. */
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { createReadApi, snapshot } from '../../src/api/index.ts'
import { decodePlanFile, encodePlanFile, jsonPlan, judgeSavedPlan, withActivityOf } from '../../src/apply/index.ts'
import { EspalierError, globMatcher, globProblem } from '../../src/base/index.ts'
import { loadManifests, parseManifests } from '../../src/manifest/index.ts'
import { type Desired, hasErrors, type Observed } from '../../src/model/index.ts'
import { plan } from '../../src/planner/index.ts'
import {
  diagnosticAnnotations,
  jsonDiagnostics,
  markdownPlan,
  planComment,
  problemComment,
  sarifDiagnostics,
  statusTable,
  terminalDiagnostics,
  terminalPlan,
} from '../../src/report/index.ts'
import { encodeSnapshot, readSnapshot } from '../../src/workflow/index.ts'
import { signed } from '../apply/sign-plan.ts'
import { expectEnough, runs } from '../long-runs.ts'
import { desired, planOf, world } from '../planner/world.ts'
import { anyCharacter, UNSEEN } from '../report/names.ts'
import { serve } from '../serve.ts'

const CORPUS = 'test/hostile/corpus'
const CORPUS_FILES = readdirSync(CORPUS)
const STYLE = { color: false, width: 100 }
const FRAME = { marker: '<!-- x -->', commit: 'c', whole: 'w', linkTo: () => 'https://example.com/x' }
const NASTY = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '\u001b[31m',
  '\u202e',
  'a\r\nb',
  '<img src=x onerror=alert(1)>',
  '../../etc/passwd',
  '$(x) %s',
  '::error::x',
  '@octocat',
  '-->',
  '```',
  '\u0000',
  '\ud800',
]

const word = fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: anyCharacter, maxLength: 12 }))
const json: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  word,
  fc.constantFrom(null, true, -1, 1e308, 2 ** 53, 0.1, '', [], {}),
  fc.dictionary(word, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }),
)

/** Removes, duplicates or replaces one part of the value, chosen by `where`. */
const mutated = (value: unknown, where: number, by: unknown, how: number): unknown => {
  const copy = structuredClone(value)
  const places: { readonly at: Record<string, unknown>; readonly key: string }[] = []
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    for (const key of Object.keys(node)) {
      places.push({ at: node as Record<string, unknown>, key })
      walk((node as Record<string, unknown>)[key])
    }
  }
  walk(copy)
  const place = places[where % places.length]
  if (place === undefined) return by
  const { at, key } = place
  if (how === 0 && !Array.isArray(at)) delete at[key]
  else if (how === 1 && Array.isArray(at)) at.push(at[Number(key)])
  else if (how === 2) Object.defineProperty(at, '__proto__', { value: by, enumerable: true, configurable: true })
  else at[key] = by
  return copy
}

const mutation = fc.tuple(fc.nat({ max: 5_000 }), json, fc.nat({ max: 6 }))
const mutate = (value: unknown, steps: readonly (readonly [number, unknown, number])[]): unknown =>
  steps.reduce((result, [where, by, how]) => mutated(result, where, by, how), value)

const isPristine = (): boolean =>
  Object.keys(Object.prototype).length === 0 && !('polluted' in {}) && Object.getPrototypeOf({}) === Object.prototype

/** Reads, plans and renders in every format. The output must not contain control characters. */
const readAndShow = (text: string, observed: Observed): void => {
  const loaded = parseManifests([{ path: 'a.yaml', text }])
  const { diagnostics } = loaded
  for (const { source } of diagnostics) if (source !== undefined) expect(source.line).toBeGreaterThan(0)
  const shown = [
    terminalDiagnostics(diagnostics, STYLE, loaded.lineOf),
    jsonDiagnostics(diagnostics),
    sarifDiagnostics(diagnostics, { version: '1' }),
    problemComment({ ...FRAME, diagnostics, notes: [] }),
    ...diagnosticAnnotations(diagnostics).flatMap(({ title, message }) => [title, message]),
  ]
  if (!hasErrors(diagnostics)) shown.push(...showPlan(loaded.desired, observed))
  // Our own symbols are emoji with a variation selector.
  for (const text of shown) expect(text.replace(/[⚠⏭]\ufe0f/g, '')).not.toMatch(UNSEEN)
  expect(isPristine()).toBe(true)
}

const showPlan = (wanted: Desired, observed: Observed): readonly string[] => {
  const result = plan(wanted, observed)
  if (!result.ok) return [terminalDiagnostics(result.diagnostics, STYLE, () => undefined)]
  const origin = { introduced: result.plan.changes, drift: [], settled: [], released: [] }
  return [
    terminalPlan(result.plan, STYLE),
    jsonPlan(result.plan),
    markdownPlan(result.plan),
    planComment({
      ...FRAME,
      plan: result.plan,
      origin,
      takenAt: observed.takenAt,
      introducedBy: 'this pull request',
      notes: [],
    }),
    statusTable(observed.projects, { now: 0 }, STYLE),
  ]
}

const LIVE = world({
  main: { primary: { id: 'ep-1', size: 1 } },
  __proto__: {},
  constructor: { primary: { id: 'ep-2', size: 2 } },
  'a\u001b[31m': { primary: { id: 'ep-3', size: 1 } },
})
const atShop = (observed: Observed): Observed => ({
  ...observed,
  projects: observed.projects.map((project) => ({ ...project, id: 'shop' })),
})

describe('manifests', () => {
  // promise: yaml-tags
  test.each(CORPUS_FILES)('the manifest %s of the corpus is read or reported without a crash', async (name) => {
    const text = readFileSync(join(CORPUS, name), 'utf8')
    readAndShow(text, atShop(LIVE))
    const { diagnostics, desired: read } = await loadManifests([name], CORPUS)
    expect(hasErrors(diagnostics) || read.documents.length > 0).toBe(true)
    // No content of any file outside the folder is shown.
    expect(jsonDiagnostics(diagnostics)).not.toMatch(/root:|"espalier"/)
  })

  // promise: arbitrary-input
  test('any string is read or reported without a crash', () => {
    fc.assert(fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), (text) => readAndShow(text, LIVE)))
    const yamlish = fc.array(
      fc.constantFrom(
        ...'-:?&*!|>%@`{}[],#"\'\n\t 1a~<',
        '---\n',
        '...\n',
        '<<: ',
        '!!x ',
        '&a ',
        '*a ',
        'version: 1\n',
        '  ',
      ),
      { maxLength: 60 },
    )
    fc.assert(
      fc.property(yamlish, (parts) => readAndShow(parts.join(''), LIVE)),
      { numRuns: runs(300) },
    )
  })

  test('example manifests with random edits are read or reported without a crash', () => {
    const files = [
      'examples/fleet/projects/orders.yaml',
      'examples/preview-branches/espalier.yaml',
      'examples/restore/espalier.yaml',
    ]
    const texts = [...files, ...CORPUS_FILES.map((name) => join(CORPUS, name))].map((file) =>
      readFileSync(file, 'utf8'),
    )
    const change = fc.tuple(fc.constantFrom(...texts), fc.nat(), fc.nat({ max: 30 }), word)
    fc.assert(
      fc.property(change, ([text, from, length, by]) => {
        const at = from % (text.length + 1)
        readAndShow(text.slice(0, at) + by + text.slice(at + length), LIVE)
      }),
      { numRuns: runs(250) },
    )
  })

  // promise: arbitrary-input
  test('manifests with random values are read or reported without a crash', () => {
    const whole = {
      version: 1,
      project: 'shop',
      defaults: {
        size: 1,
        scaleToZero: '5m',
        pooler: { enabled: true },
        postgres: { settings: { a: 1 }, preload: ['x'] },
      },
      profiles: { small: { size: { min: 0.25, max: 2 } } },
      branches: { main: { protect: true, primary: { id: 'ep-1', profile: 'small' }, replicas: { r: { size: 1 } } } },
      rules: [{ match: 'a/*', except: ['a/b'], primary: { size: 1 } }],
      prune: true,
      parkOn: 'main',
    }
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 3 }), (steps) => {
        readAndShow(stringify(mutate(whole, steps)), atShop(LIVE))
      }),
      { numRuns: runs(250) },
    )
  })
})

// promise: prototype-names
test('a Postgres setting named like an object property, such as `constructor`, is planned as new', () => {
  const text =
    'version: 1\nproject: shop\nbranches: { main: { primary: { postgres: { settings: { constructor: "1", toString: "2" } } } } }\n'
  const result = plan(parseManifests([{ path: 'a.yaml', text }]).desired, atShop(LIVE))
  expect(result.ok && result.plan.changes[0]?.attributes).toMatchObject([
    { path: 'postgres.settings.constructor', after: '1' },
    { path: 'postgres.settings.toString', after: '2' },
  ])
  expect(result.ok && result.plan.changes[0]?.attributes.some(({ before }) => before !== undefined)).toBe(false)
})

describe('saved plans', () => {
  const declared = { branches: { main: { primary: { size: 2 } }, dev: { replicas: { r: { size: 1 } } } }, prune: true }
  const live = world({ main: { primary: { id: 'ep-1', size: 1 } }, dev: { primary: { id: 'ep-2' } } })
  const file = JSON.parse(
    encodePlanFile({
      plan: planOf(declared, live),
      observed: live,
      manifestDigest: 'a'.repeat(64),
      espalier: '1.0.0',
      createdAt: '2026-01-01T00:00:00.000Z',
    }),
  )

  // promise: arbitrary-input
  test('an edited saved plan is rejected, or can be shown and compared', () => {
    let accepted = 0
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 2 }), (steps) => {
        const mutated = mutate(file, steps)
        const text = typeof mutated === 'object' && mutated !== null ? signed(mutated) : JSON.stringify(mutated)
        const read = tryTo(() => decodePlanFile(text, 'plan.json'))
        if (read === undefined) return
        accepted += 1
        expect(terminalPlan(read.plan, STYLE)).not.toMatch(UNSEEN)
        expect(markdownPlan(read.plan)).not.toMatch(UNSEEN)
        expect(jsonPlan(read.plan)).not.toMatch(UNSEEN)
        const present = { observed: live, manifestDigest: 'b', espalierVersion: '1.0.0' }
        const rewound = plan(desired(declared), withActivityOf(read.seen, live))
        judgeSavedPlan(read, { ...present, fresh: plan(desired(declared), live), rewound })
        expect(isPristine()).toBe(true)
      }),
      { numRuns: runs(600) },
    )
    expectEnough(accepted, 0)
  })

  test('a saved plan with random content is rejected', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.json()),
        (text) => void expect(tryTo(() => decodePlanFile(text, 'x'))).toBe(undefined),
      ),
    )
  })
})

describe('snapshots', () => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-fuzz-'))
  const live = atShop(LIVE)
  const file = JSON.parse(encodeSnapshot(live))
  const wanted = parseManifests([
    {
      path: 'a.yaml',
      text: 'version: 1\nproject: shop\nbranches: { main: { primary: { size: 2 } } }\nrules: [{ match: "**", primary: { size: 1 }, replicas: { r: {} } }]\nprune: true\n',
    },
  ]).desired

  test('an edited snapshot is rejected, or can be used to plan', async () => {
    const path = join(folder, 'live.json')
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 2 }), async (steps) => {
        writeFileSync(path, JSON.stringify(mutate(file, steps)))
        const read = await tryToRead(() => readSnapshot(path))
        if (read === undefined) return
        for (const text of showPlan(wanted, read)) expect(text).not.toMatch(UNSEEN)
        expect(isPristine()).toBe(true)
      }),
      { numRuns: runs(250) },
    )
  })
})

describe('responses of the control API', () => {
  test('random responses are rejected, or can be used to plan', async () => {
    const computes = LIVE.projects[0]?.computes ?? []
    const plainId = (id: string): string => id.replaceAll(/[^a-z0-9-]/g, '-')
    const answers = {
      branches: (LIVE.projects[0]?.branches ?? []).map(({ id, name }) => ({
        id: plainId(id),
        name,
        default: false,
        protected: true,
      })),
      endpoints: computes.map(({ id, branchId, type }) => ({
        id,
        branch_id: plainId(branchId),
        type,
        host: 'h',
        current_state: 'active',
        autoscaling_limit_min_cu: 1,
        autoscaling_limit_max_cu: 2,
        suspend_timeout_seconds: 0,
        settings: {
          pg_settings: { work_mem: '1' },
          preload_libraries: { use_defaults: true, enabled_libraries: ['a'] },
        },
      })),
      pagination: { next: null },
    }
    let body = ''
    const { port } = await serve((_request, response) => response.end(body))
    let now = 0
    const clock = {
      now: () => now,
      sleep: async (ms: number) => {
        now += ms
      },
    }
    const api = createReadApi({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'a-key', clock, rateLimit: false })
    const wanted = desired({
      branches: { main: { primary: { size: 2 } } },
      rules: [{ match: '**', primary: {} }],
      prune: true,
    })
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 2 }), async (steps) => {
        body = JSON.stringify(mutate(answers, steps))
        const seen = await tryToRead(() => snapshot(api, [LIVE.projects[0]?.id ?? ''], { clock }))
        if (seen === undefined) return
        accepted += 1
        for (const text of showPlan(wanted, seen)) expect(text).not.toMatch(UNSEEN)
        expect(isPristine()).toBe(true)
      }),
      { numRuns: runs(300) },
    )
    expectEnough(accepted, 0)
    await api.close()
  })
})

describe('globs', () => {
  // promise: slow-glob
  test.each([
    ['many stars', '*a'.repeat(400), 'a'.repeat(5_000)],
    ['many double stars', `${'**'.repeat(300)}b`, 'a/'.repeat(2_000)],
    ['many alternatives', '{a,aa}{a,aa}{a,aa}{a,aa}{a,aa}{a,aa}*b', 'a'.repeat(5_000)],
    ['many sets', `${'[!b]*'.repeat(150)}b`, 'a'.repeat(5_000)],
    ['many question marks', `${'?*'.repeat(300)}/`, 'x'.repeat(5_000)],
  ])('a glob with %s is matched against a long name without backtracking', (_what, pattern, name) => {
    expect(globProblem(pattern)).toBeUndefined()
    // With backtracking, this would take far longer than the test's timeout.
    expect(globMatcher(pattern)(name)).toBe(pattern === '*a'.repeat(400))
  })

  test('a random pattern is either rejected or matches', () => {
    const pattern = fc
      .array(fc.constantFrom(...'*?[]{}!,-/a^\\\u001b'), { maxLength: 40 })
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(
        fc.oneof(pattern, fc.string({ unit: anyCharacter })),
        fc.string({ unit: anyCharacter }),
        (glob, name) => {
          expect(typeof globMatcher(glob)(name)).toBe('boolean')
          if (globProblem(glob) !== undefined) expect(globMatcher(glob)(name)).toBe(false)
        },
      ),
      { numRuns: runs(500) },
    )
  })
})

/** `undefined` for an `EspalierError`. Any other exception is a bug. */
const tryTo = <T>(work: () => T): T | undefined => {
  try {
    return work()
  } catch (error) {
    if (error instanceof EspalierError) return undefined
    throw error
  }
}

const tryToRead = async <T>(work: () => Promise<T>): Promise<T | undefined> =>
  work().catch((error: unknown) => {
    if (error instanceof EspalierError) return undefined
    throw error
  })
