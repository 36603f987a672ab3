/** Exactly what the manifests no longer declare is listed: computes, attributes and safeguards. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defined } from '../../src/base/index.ts'
import { type RestartWindow, WEEKDAYS } from '../../src/model/index.ts'
import { releasedSince } from '../../src/planner/index.ts'
import { type Declared, type DeclaredDocument, desired, world } from './world.ts'

const live = world({
  main: { primary: { id: 'ep-main' }, replicas: [{ id: 'ep-bi', name: 'bi' }] },
  dev: { primary: { id: 'ep-dev', state: 'idle' } },
  'preview/1': { primary: { id: 'ep-p1' } },
})
const released = (base: readonly DeclaredDocument[], head: readonly DeclaredDocument[]) =>
  releasedSince(desired(...base), desired(...head), live).flatMap((one) =>
    one.kind === 'compute' ? [one.compute.id] : [],
  )

const main = { primary: {}, replicas: { bi: {} } }
const base: DeclaredDocument = {
  branches: { main, dev: { primary: {} } },
  rules: [{ match: 'preview/*', primary: {} }],
}

test.each<readonly [string, readonly DeclaredDocument[], readonly string[]]>([
  ['a replica is removed', [{ ...base, branches: { main: { primary: {} }, dev: { primary: {} } } }], ['ep-bi']],
  ['a branch is removed', [{ ...base, branches: { main } }], ['ep-dev']],
  ['a rule is removed', [{ branches: base.branches ?? {} }], ['ep-p1']],
  ['the whole file is removed', [], ['ep-dev', 'ep-main', 'ep-bi', 'ep-p1']],
  ['nothing is removed', [base], []],
  ['a rule replaces a branch entry', [{ ...base, branches: { main }, rules: [{ match: '**', primary: {} }] }], []],
  [
    'a replica is declared absent',
    [{ ...base, branches: { main: { primary: {}, absentReplicas: ['bi'] }, dev: { primary: {} } } }],
    [],
  ],
  ['a primary is declared absent', [{ ...base, branches: { main, dev: { primary: 'absent' } } }], []],
  [
    'a replica is removed and pruned',
    [{ ...base, prune: true, branches: { main: { primary: {} }, dev: { primary: {} } } }],
    [],
  ],
  [
    'a branch is removed under `prune`, which deletes only on declared branches',
    [{ ...base, prune: true, branches: { main } }],
    ['ep-dev'],
  ],
])('exactly the released computes are listed when %s', (_what, head, ids) => {
  expect(released([base], head)).toEqual(ids)
})

test('a replica whose key is renamed is released', () => {
  expect(
    released([base], [{ ...base, branches: { ...base.branches, main: { primary: {}, replicas: { olap: {} } } } }]),
  ).toEqual(['ep-bi'])
})

test('computes that the base declares but that are not live are not released', () => {
  expect(released([{ branches: { main: { replicas: { never: {} } }, gone: { primary: {} } } }], [])).toEqual([])
})

test('a released compute is listed with its source in the base, its branch and its state', () => {
  expect(releasedSince(desired(base), desired({ ...base, branches: { main } }), live)).toEqual([
    {
      kind: 'compute',
      project: 'quiet-river-12345678',
      branch: { id: 'br-dev', name: 'dev' },
      compute: { type: 'read_write', id: 'ep-dev', host: 'ep-dev.host.test', state: 'idle' },
      size: { min: 1, max: 1 },
      source: { file: 'espalier.yaml', line: 1, column: 1, length: 1 },
    },
  ])
})

test('equal manifests release nothing, and a released compute is not managed by the head', () => {
  const document = fc.record({
    branches: fc.dictionary(fc.constantFrom('main', 'dev', 'preview/1'), fc.constantFrom(main, { primary: {} }, {})),
    prune: fc.boolean(),
  })
  fc.assert(
    fc.property(document, document, (one, other) => {
      expect(released([one], [one])).toEqual([])
      const ids = released([one], [other])
      expect(released([other], [one]).filter((id) => ids.includes(id))).toEqual([])
    }),
  )
})

const everything = (base: DeclaredDocument, head: DeclaredDocument, observed = live) =>
  releasedSince(desired(base), desired(head), observed)

const safeguards = (base: DeclaredDocument, head: DeclaredDocument, observed = live) =>
  everything(base, head, observed).flatMap((one) => {
    if (one.kind !== 'safeguard') return []
    const { safeguard, branch, before, after } = one
    return [`${safeguard} on ${branch.name}: ${before} → ${after}`]
  })

const window = (from: string, to: string, timezone = 'UTC', days: RestartWindow['days'] = ['sun']): RestartWindow => ({
  days,
  from,
  to,
  timezone,
})
test.each<readonly [string, DeclaredDocument, DeclaredDocument, readonly string[]]>([
  [
    'a head without `protect: true`',
    { branches: { main: { protect: true } } },
    { branches: { main: {} } },
    ['protect on main: true → false'],
  ],
  ['a head without the branch', { branches: { main: { protect: true } } }, {}, ['protect on main: true → false']],
  [
    'a head that keeps `protect: true`',
    { branches: { main: { protect: true } } },
    { branches: { main: { protect: true } } },
    [],
  ],
  ['a head without `protect: true`, like the base,', { branches: { main: {} } }, { branches: { main: {} } }, []],
  [
    'a head that newly prunes',
    { branches: { main: {}, dev: {} } },
    { prune: true, branches: { main: {} } },
    ['prune on main: false → true'],
  ],
  [
    'a head that prunes, like the base,',
    { prune: true, branches: { main: {} } },
    { prune: true, branches: { main: {} } },
    [],
  ],
  [
    'a head that no longer protects what a rule may match later',
    { rules: [{ match: 'release/*', protect: true, primary: { restartWindow: window('02:00', '04:00') } }] },
    { rules: [{ match: 'release/*', primary: {} }] },
    ['restartWindow on release/*: Sun 02:00–04:00 UTC → any time', 'protect on release/*: true → false'],
  ],
  [
    'a head without a rule that matches no branch',
    { rules: [{ match: '{release,hotfix}/[0-9]*', protect: true }] },
    {},
    ['protect on {release,hotfix}/[0-9]*: true → false'],
  ],
  [
    'a head with a wider rule',
    { rules: [{ match: 'release/*', protect: true }] },
    { rules: [{ match: 'release/**', protect: true }] },
    [],
  ],
])('exactly the safeguards are listed that %s removes', (_what, base, head, expected) => {
  expect(safeguards(base, head)).toEqual(expected)
})

const within = (restartWindow?: RestartWindow): DeclaredDocument => ({
  branches: { main: { primary: defined({ restartWindow }) } },
})

test.each<readonly [string, RestartWindow, RestartWindow | undefined, boolean]>([
  ['removed', window('02:00', '04:00'), undefined, true],
  ['made longer', window('02:00', '04:00'), window('02:00', '05:00'), true],
  ['moved', window('02:00', '04:00'), window('03:00', '05:00'), true],
  ['opened on more days', window('02:00', '04:00'), window('02:00', '04:00', 'UTC', ['sat', 'sun']), true],
  ['made shorter', window('02:00', '04:00'), window('02:30', '04:00'), false],
  ['removed, although it was always open', window('00:00', '24:00', 'UTC', [...WEEKDAYS]), undefined, false],
  ['written in another zone', window('02:00', '04:00'), window('02:00', '04:00', 'Etc/UTC'), false],
  ['moved to another zone', window('02:00', '04:00'), window('02:00', '04:00', 'Europe/Berlin'), true],
  // In Berlin, 03:30 to 04:00 is 02:30 to 03:00 UTC in winter and 01:30 to 02:00 UTC in summer.
  [
    'made shorter in another zone, if it is summer',
    window('01:00', '03:00'),
    window('03:30', '04:00', 'Europe/Berlin'),
    false,
  ],
  [
    'made shorter in another zone, but not in summer',
    window('02:00', '03:00'),
    window('03:30', '04:00', 'Europe/Berlin'),
    true,
  ],
  ['cut at midnight', window('23:00', '01:00'), window('23:00', '24:00'), false],
  ['continued on Monday', window('23:00', '24:00'), window('23:00', '01:00'), true],
])('a window that is %s is compared by its minutes', (_what, before, after, isListed) => {
  expect(safeguards(within(before), within(after))).toHaveLength(isListed ? 1 : 0)
})

const busy = world({
  main: { primary: { id: 'ep-main', size: 4, disabled: true, settings: { work_mem: '8MB' }, preload: ['a'] } },
})
const attributes = (base: DeclaredDocument, head: DeclaredDocument, observed = busy) =>
  everything(base, head, observed).flatMap((one) =>
    one.kind === 'attribute' ? [[one.path, one.liveText, one.undo ?? one.isDefault]] : [],
  )
const primary = (declared: Declared): DeclaredDocument => ({ branches: { main: { primary: declared } } })

test('each attribute that is no longer set is listed with its live value and the line that undoes it', () => {
  const all = { size: 2, scaleToZero: 0, disabled: true, settings: { work_mem: '4MB', jit: 'off' }, preload: ['a'] }
  expect(attributes(primary(all), primary({}))).toEqual([
    ['size', '4 CU', undefined],
    ['scaleToZero', 'default (5m)', true],
    ['disabled', 'true', 'disabled: false'],
    ['postgres.settings.work_mem', 'another value', undefined],
    ['postgres.preload', 'a', 'postgres: { preload: [] }'],
  ])
  expect(attributes(primary({ preload: ['b'] }), primary({}))).toEqual([
    ['postgres.preload', 'another value', 'postgres: { preload: [] }'],
  ])
  const [project] = busy.projects
  const known = {
    ...busy,
    projects: project ? [{ ...project, settings: { computeDefaults: { size: { min: 1, max: 2 } } } }] : [],
  }
  expect(attributes(primary({ size: 2 }), primary({}), known)).toEqual([['size', '4 CU', 'size: { min: 1, max: 2 }']])
})

test('only what is in force counts: a new value, a deleted compute or a gone branch lists nothing', () => {
  const base = primary({ size: 2, settings: { work_mem: '4MB' } })
  expect(everything(base, primary({ size: 4, settings: { work_mem: '8MB', jit: 'off' } }), busy)).toEqual([])
  expect(everything(base, primary({}), world({ dev: {} }))).toEqual([])
  expect(everything(base, { branches: { main: { primary: 'absent' } } }, busy)).toEqual([])
})
