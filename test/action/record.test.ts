/** The record in the comment of a plan: what it shows, and since when. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { digestsOf, nextRecord, type PlanRecord, planeOf, readRecord, writeRecord } from '../../src/action/record.ts'
import { DEFAULT_BASE_URL } from '../../src/api/index.ts'
import { world as liveOf, planOf } from '../planner/world.ts'
import { manifest, type World, withHead } from './action-world.ts'

const ABOUT = { head: 'a'.repeat(40), base: 'b'.repeat(40), plane: 'sandbox' }
const live = liveOf({ main: { primary: { size: 1 } }, dev: { primary: { size: 1 } } })
const changesTo = (sizes: Readonly<Record<string, number>>) =>
  planOf(
    { branches: Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, { primary: { size } }])) },
    live,
  ).changes
const timesOf = (record: PlanRecord): readonly number[] => [...record.shown.values()]

test('a change keeps the time at which it was first shown, even if it was gone meanwhile', () => {
  const first = nextRecord(ABOUT, changesTo({ main: 2 }), 100, undefined)
  const added = nextRecord(ABOUT, changesTo({ main: 2, dev: 4 }), 200, first)
  const gone = nextRecord(ABOUT, changesTo({ dev: 4 }), 300, added)
  const back = nextRecord(ABOUT, changesTo({ main: 2, dev: 4 }), 400, gone)
  const other = nextRecord(ABOUT, changesTo({ main: 8, dev: 4 }), 500, back)
  expect([first, added, gone, back, other].map((record) => timesOf(record).toSorted())).toEqual([
    [100],
    [100, 200],
    [200],
    [100, 200],
    [200, 500],
  ])
  // What is no longer shown does not count as shown.
  expect([...gone.earlier]).toEqual([...first.shown])
})

test.each([
  ['for another head', { head: 'c'.repeat(40) }],
  ['of another control plane', { plane: '0123456789abcdef' }],
])('times in a record %s are not carried over', (_what, other) => {
  const before = nextRecord({ ...ABOUT, ...other }, changesTo({ main: 2 }), 100, undefined)
  expect(timesOf(nextRecord(ABOUT, changesTo({ main: 2 }), 200, before))).toEqual([200])
})

test('digests do not depend on live values that readers of the comment could guess', () => {
  const [change] = changesTo({ main: 2 })
  const digestsFor = (path: string, before: string) =>
    change && digestsOf({ ...change, attributes: change.attributes.map((one) => ({ ...one, path, before })) })
  for (const path of ['name', 'postgres.settings.app.token']) {
    expect(digestsFor(path, 'secret'), path).toEqual(digestsFor(path, 'guess'))
  }
  expect(digestsFor('size', '1')).not.toEqual(digestsFor('size', '2'))
})

test('an update has a digest for each attribute, other changes and refused ones have their own', () => {
  const two = { main: { primary: { size: 2, scaleToZero: 600 } } }
  const [update] = planOf({ branches: two }, live).changes
  const [create] = planOf({ branches: two }, liveOf({ main: {} })).changes
  const all = [update, update && { ...update, refused: 'protected' }, create].map((one) => one && digestsOf(one))
  expect(all.map((digests) => digests?.length)).toEqual([2, 2, 1])
  expect(new Set(all.flat()).size).toBe(5)
})

test('a move also shows the update that is left if only its first half is applied', () => {
  const observed = liveOf({ main: { primary: { id: 'ep-1', size: 1 } }, dev: {} })
  const dev = (size: number) => ({ branches: { dev: { primary: { id: 'ep-1', size } }, main: {} } })
  const moved = liveOf({ dev: { primary: { id: 'ep-1', size: 1 } }, main: {} })
  const { shown } = nextRecord(ABOUT, planOf(dev(2), observed).changes, 100, undefined)
  const left = planOf(dev(2), moved).changes.flatMap(digestsOf)
  expect(left).toHaveLength(1)
  expect([...shown.keys()]).toEqual(expect.arrayContaining(left))
  const { changes } = planOf({ branches: { main: { primary: { size: 2 } } } }, liveOf({ main: {} }))
  expect(nextRecord(ABOUT, changes, 100, undefined).shown.size).toBe(1)
})

test('of what is no longer shown, only the newest 200 digests are kept', () => {
  const earlier = new Map(Array.from({ length: 300 }, (_, at) => [`${at}`, at]))
  const next = nextRecord(ABOUT, [], 400, { ...ABOUT, shown: new Map(), earlier })
  expect([...next.earlier.values()]).toEqual(Array.from({ length: 200 }, (_, at) => at + 100))
})

test('each control plane and branch has its own name in records', () => {
  const of = (sandbox: string, baseUrl: string, branch?: string) =>
    planeOf({ inputs: { sandbox, baseUrl }, event: { branch } } as never)
  expect(of('seed.yaml', '')).toBe('sandbox')
  expect(of('', '')).toMatch(/^[0-9a-f]{16}$/)
  expect(of('', '')).toBe(of('', DEFAULT_BASE_URL))
  expect(of('', 'https://api.example/v2')).not.toBe(of('', ''))
  expect(of('', '', 'lax')).not.toBe(of('', '', 'main'))
})

test('a record is read as it was written, and nothing else is', () => {
  const digest = fc.stringMatching(/^[A-Za-z0-9+/]{22}$/)
  const times = fc.array(fc.tuple(digest, fc.nat({ max: 3 }))).map((all) => new Map(all))
  fc.assert(
    fc.property(times, times, (shown, earlier) => {
      const record = { ...ABOUT, shown, earlier }
      expect(readRecord(`text\n${writeRecord(record)}`)).toEqual(record)
    }),
  )
  const [line = ''] = writeRecord({ ...ABOUT, shown: new Map(), earlier: new Map() }).split('\n')
  for (const text of [`> ${line}`, line.replace(' 1 ', ' 2 '), line.replace('|', '')]) {
    expect(readRecord(text)).toBeUndefined()
  }
})

const recordIn = ({ github }: Pick<World, 'github'>): PlanRecord | undefined =>
  readRecord(github.comments.at(-1)?.body ?? '')

test('the time is that of GitHub, and a person who edits the comment cannot date it back', async () => {
  const world = await withHead()
  const { run, event, github } = world
  github.now = () => Date.parse('2027-01-01T00:00:00Z')
  await run({ command: 'plan' }, { event })
  const shown = Date.parse('2027-01-01T00:00:00Z') / 1_000
  expect(recordIn(world)).toMatchObject({
    head: event.payload.pull_request.head.sha,
    base: event.payload.pull_request.base.sha,
  })
  expect(new Set(recordIn(world)?.shown.values())).toEqual(new Set([shown]))
  github.now = () => (shown + 3_600) * 1_000
  await run({ command: 'plan' }, { event })
  expect(new Set(recordIn(world)?.shown.values())).toEqual(new Set([shown]))
  const [comment] = github.comments
  Object.assign(comment ?? {}, { editor: 'mallory', body: comment?.body.replace(`@${shown}`, `@${shown - 9_999}`) })
  await run({ command: 'plan' }, { event })
  expect(new Set(recordIn(world)?.shown.values())).toEqual(new Set([shown + 3_600]))
})

test('a comment whose writing takes longer than 30 s is written again with a later time', async () => {
  const world = await withHead()
  const { run, event, github } = world
  let seconds = 1_800_000_000
  let writes = 0
  github.now = () => seconds * 1_000
  github.onWrite = () => {
    writes += 1
    if (writes === 1) seconds += 31
  }
  await run({ command: 'plan' }, { event })
  expect(writes).toBe(2)
  expect(github.comments).toHaveLength(1)
  expect(new Set(recordIn(world)?.shown.values())).toEqual(new Set([1_800_000_031]))
})

test('a change that does not fit has no record', async () => {
  const world = await withHead()
  const { run, event, github, repository } = world
  const settings = Array.from({ length: 900 }, (_, at) => `app.setting_${at}: ${'x'.repeat(60)}`).join(', ')
  repository.write(
    'espalier.yaml',
    manifest({ main: 4, a: 4 }).replace(
      'a: { primary: { size: 4',
      `a: { primary: { size: 1, postgres: { settings: { ${settings} } }`,
    ),
  )
  const { code, log } = await run({ command: 'plan' }, { event })
  expect(code, log).toBe(0)
  expect(github.comments[0]?.body).toContain(
    '**1 change does not fit here.** With `require-approval`, this cannot be applied',
  )
  expect(recordIn(world)?.shown.size).toBe(1)
})
