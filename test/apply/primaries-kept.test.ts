/** Whatever is refused, not allowed, not selected, stopped or rejected: no branch silently loses its declared primary. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isAnyDue } from '../../src/apply/index.ts'
import { type Consent, type Plan, WEEKDAYS } from '../../src/model/index.ts'
import { plan } from '../../src/planner/index.ts'
import { expectEnough, isLong, runs } from '../long-runs.ts'
import {
  type DeclaredDocument,
  type DeclaredShape,
  desired,
  type LiveBranch,
  PROJECT,
  world,
} from '../planner/world.ts'
import { compute, fakeApi, refused } from './fake-api.ts'
import { allow, apply, creating, deleting, planWith, step } from './small-plans.ts'

const BRANCHES = ['main', 'dev', 'test', 'old', 'park']
const PRIMARIES = ['ep-main', 'ep-dev', 'ep-test', 'ep-old']
const REPLICA = 'ep-replica'

interface Case {
  readonly document: DeclaredDocument
  readonly branches: Readonly<Record<string, LiveBranch>>
}

/** Pins are shuffled, so that primaries often move in chains and cycles. */
const cases: fc.Arbitrary<Case> = fc
  .record({
    present: fc.subarray(PRIMARIES, { minLength: 2 }),
    home: fc.constantFrom(...BRANCHES),
    state: fc.constantFrom('active' as const, 'idle' as const),
    order: fc.shuffledSubarray([...PRIMARIES, REPLICA], { minLength: 5 }),
    kinds: fc.array(fc.constantFrom('pin', 'pin', 'pin', 'any', 'absent', 'none'), { minLength: 4, maxLength: 4 }),
    disabled: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
    protect: fc.option(fc.constantFrom(...BRANCHES), { nil: undefined, freq: 1 }),
    prune: fc.boolean(),
    parks: fc.boolean(),
  })
  .map(({ present, home, state, order, kinds, disabled, protect, prune, parks }) => {
    const pins = order.filter((id) => id === REPLICA || present.includes(id))
    const branches = Object.fromEntries(
      BRANCHES.map((name): [string, LiveBranch] => [
        name,
        {
          ...(present.includes(`ep-${name}`) && { primary: { id: `ep-${name}`, state } }),
          ...(name === home && { replicas: [{ id: REPLICA }] }),
        },
      ]),
    )
    const shapes = BRANCHES.map((name, at): [string, DeclaredShape] => {
      const [kind, id] = [kinds[at] ?? 'none', pins[at]]
      const pinned = id === undefined ? {} : { id, ...(disabled[at] === true && { disabled: true }) }
      const primary = { pin: pinned, any: {}, absent: 'absent' as const, none: undefined }[kind]
      return [name, { ...(primary !== undefined && { primary }), ...(name === protect && { protect: true }) }]
    })
    return { document: { branches: Object.fromEntries(shapes), prune, ...(parks && { parkOn: 'park' }) }, branches }
  })

const circumstances = fc.record({
  consents: fc.subarray<Consent>(['move', 'disconnect', 'replace', 'delete']),
  selected: fc.option(fc.subarray(BRANCHES, { minLength: 1 }), { nil: undefined, freq: 2 }),
  completesChains: fc.boolean(),
  /** After how many requests the run is stopped. */
  stopAfter: fc.option(fc.nat(4), { nil: undefined, freq: 2 }),
  /** Which request the service rejects. */
  rejects: fc.option(fc.nat(4), { nil: undefined, freq: 2 }),
  /** Whether a step in another project fails first, and no failure is tolerated. */
  otherFails: fc.boolean(),
})

const OTHER = compute('ep-1', { branchId: 'br-other' })
const failing = step('other', { project: 'q', request: { ...step('x').request, path: '/projects/q/endpoints/ep-1' } })
const planning = ({ document, branches }: Case) => {
  const observed = world(branches)
  return { observed, of: (options = {}) => plan(desired(document), observed, options) }
}

test.runIf(isLong)('enough of the random plans hand over primaries for the property to be meaningful', () => {
  const plans = fc
    .sample(cases, { numRuns: 300, seed: 7 })
    .map((one) => planning(one).of())
    .filter(({ ok }) => ok)
  const moving = plans.filter(({ plan: { steps } }) => steps.filter(({ kind }) => kind === 'move').length > 1)
  expect(moving.length).toBeGreaterThan(50)
})

test('no branch is left without its declared primary, unless the service rejects a step and the outcome says so', async () => {
  let [applied, said] = [0, 0]
  const property = fc.asyncProperty(cases, circumstances, async (one, circumstance) => {
    const { document, branches } = one
    const { consents, selected, completesChains, stopAfter, rejects, otherFails } = circumstance
    const { observed, of } = planning(one)
    const isSelected = ({ branch, from }: Plan['changes'][number]): boolean =>
      selected === undefined || selected.includes(branch.name) || (from !== undefined && selected.includes(from.name))
    const made = of({ select: isSelected, completesChains })
    if (!made.ok) return
    const [stop, computes] = [new AbortController(), observed.projects.flatMap((project) => project.computes)]
    let sent = 0
    const api = fakeApi({
      branches: observed.projects.flatMap((project) => project.branches),
      computes: [...computes, OTHER],
      onSend: (_attempt, { path }, perform) => {
        if (path.startsWith('/projects/q/')) throw refused(422)
        if (sent === stopAfter) stop.abort()
        sent += 1
        if (sent === rejects) throw refused(422)
        return perform()
      },
    })
    const { notes } = await apply({
      plan: { ...made.plan, steps: [...(otherFails ? [failing] : []), ...made.plan.steps] },
      api,
      observed: { ...observed, projects: observed.projects.map((one) => ({ ...one, computes: [...computes, OTHER] })) },
      consent: allow(...consents),
      stop: stop.signal,
      maxFailures: 0,
    })
    const filled = new Set([...api.computes.values()].flatMap((one) => (one.type === 'read_write' ? one.branchId : [])))
    const lost = BRANCHES.filter((name) => {
      const declared = document.branches?.[name]?.primary
      const isDeclared = declared !== undefined && declared !== 'absent'
      return isDeclared && branches[name]?.primary !== undefined && !filled.has(`br-${name}`)
    })
    const words = (name: string): string => `Branch \`${name}\` of project \`${PROJECT}\` has no primary now`
    expect(notes.filter((note) => note.includes('has no primary now'))).toHaveLength(lost.length)
    for (const name of lost) expect(notes.some((note) => note.startsWith(words(name)))).toBe(true)
    if (rejects === undefined || sent < rejects) expect(lost).toEqual([])
    if (sent > 1) applied += 1
    if (lost.length > 0) said += 1
  })
  await fc.assert(property, { numRuns: runs(1_500) })
  expectEnough(applied, 100)
  expectEnough(said, 5)
})

test.each([
  ['03:59:50', 'does not fit into the rest of its window', false],
  ['03:00:00', 'fits', true],
])('at %s, a chain that %s is due: %s', (time, _name, isDue) => {
  const windows = [{ days: WEEKDAYS, from: '02:00', to: '04:00', timezone: 'UTC' }]
  const chain = planWith(
    step('a', { ...deleting, impact: 'delete', windows }),
    step('b', { ...creating, compute: { type: 'read_write' }, impact: 'none', after: ['a'] }),
  )
  const refused = { ...chain, steps: chain.steps.map((one) => (one.id === 'b' ? { ...one, refused: 'no' } : one)) }
  const clock = { now: () => Date.parse(`2026-11-22T${time}Z`) }
  expect(isAnyDue(refused, { takenAt: '', projects: [], missing: [] }, clock, false)).toBe(isDue)
})
