/** What is known and read before a step is sent: the expected state, computes in the same place, and open windows. */
import { describe, expect, test } from 'vitest'
import { ExpectedState } from '../../src/apply/before/expected-state.ts'
import { findInPlace, findOther } from '../../src/apply/before/find-in-place.ts'
import { movedCompute } from '../../src/apply/before/recheck.ts'
import { openingsOf, scheduledStep } from '../../src/apply/before/restart-windows.ts'
import type { RunContext } from '../../src/apply/context.ts'
import type { ObservedBranch, ObservedCompute, RestartWindow, Step } from '../../src/model/index.ts'
import { compute, fakeApi, fakeClock, operation } from './fake-api.ts'
import { creating, deleting, observedOf, step } from './small-plans.ts'

const MAIN: ObservedBranch = { id: 'br-main', name: 'main', isDefault: true, isProtected: false }

const expecting = (
  computes: readonly ObservedCompute[],
  branches: readonly ObservedBranch[] = [MAIN],
): ExpectedState => {
  const { projects, ...rest } = observedOf(computes)
  return new ExpectedState({ ...rest, projects: projects.map((project) => ({ ...project, branches })) })
}

const contextOf = (live: readonly ObservedCompute[], known: readonly ObservedCompute[] = []) => {
  const api = fakeApi({ computes: live })
  const clock = fakeClock()
  const expected = expecting(known)
  const context: Pick<RunContext, 'api' | 'clock' | 'expected' | 'abort'> = { api, clock, expected, abort: undefined }
  return { api, clock, expected, context: context as RunContext }
}

const replica = (id: string, name: string | undefined, more: Partial<ObservedCompute> = {}): ObservedCompute =>
  compute(id, { type: 'read_only', attributes: name === undefined ? {} : { name }, ...more })

describe('the expected state of a compute', () => {
  const settings = { a: '1', b: '2' }
  const before = compute('ep-1', { attributes: { size: { min: 1, max: 2 }, name: 'old', postgresSettings: settings } })
  const asking = (endpoint: NonNullable<Step['request']['body']>['endpoint']): Step =>
    step('s', { request: { ...step('s').request, body: { endpoint } } })

  test.each<readonly [string, Step, Partial<ObservedCompute> | undefined]>([
    ['a name', asking({ name: 'new' }), { attributes: { ...before.attributes, name: 'new' } }],
    ['another branch', asking({ branch_id: 'br-dev' }), { branchId: 'br-dev', attributes: before.attributes }],
    [
      'one of the settings',
      asking({ settings: { pg_settings: { b: '3' } } }),
      { attributes: { ...before.attributes, postgresSettings: { a: '1', b: '3' } } },
    ],
    ['the deletion', step('s', deleting), undefined],
    ['nothing, without a body', step('s', { request: { method: 'POST', path: '/x' } }), before],
  ])('includes %s that a step requested', (_what, done, after) => {
    const expected = expecting([before])
    expected.done(done)
    expect(expected.before('ep-1')).toEqual(after && { ...before, ...after })
  })

  test('of a compute that a step deleted is remembered for its successor', () => {
    const expected = expecting([before])
    expected.done(step('s', deleting))
    expect(expected.of('ep-1')).toEqual({ kind: 'deleted', compute: before })
  })

  test('is unknown for a compute that this run created, or that the plan did not know', () => {
    const expected = expecting([before])
    expected.made('ep-new')
    expect(expected.of('ep-new')).toEqual({ kind: 'made' })
    for (const id of ['ep-new', 'ep-other', undefined]) expect(expected.before(id)).toBeUndefined()
    expected.done(step('s', { compute: { type: 'read_write', id: 'ep-other' } }))
    expect(expected.of('ep-other')).toBeUndefined()
  })

  test("tells this run's operations from those of others", () => {
    const expected = expecting([])
    expected.started([operation('op-1')])
    expect(['op-1', 'op-2'].map((id) => expected.isOwn(operation(id)))).toEqual([true, false])
  })
})

describe('a compute in the place where a step creates one', () => {
  const create = step('s', creating)
  const createPrimary = step('s', {
    kind: 'create',
    compute: { type: 'read_write' },
    request: {
      method: 'POST',
      path: '/projects/p/endpoints',
      body: { endpoint: { branch_id: 'br-main', type: 'read_write' } },
    },
  })

  test.each<readonly [string, Step, ObservedCompute, boolean]>([
    ['the replica with the name', create, replica('ep-1', 'r'), true],
    ['a replica with another name', create, replica('ep-1', 'other'), false],
    ['a replica without a name', create, replica('ep-1', undefined), false],
    ['the replica with the name on another branch', create, replica('ep-1', 'r', { branchId: 'br-dev' }), false],
    ['a primary with the name', create, compute('ep-1', { attributes: { name: 'r' } }), false],
    ['the primary, whatever its name', createPrimary, compute('ep-1', { attributes: { name: 'x' } }), true],
    ['a replica, for a primary', createPrimary, replica('ep-1', undefined), false],
  ])('%s', async (_what, one, live, isInPlace) => {
    const { context } = contextOf([live])
    const found = isInPlace ? live : undefined
    expect(await findInPlace(one, context, { others: new Set() })).toEqual(found)
    expect(await findOther(one, undefined, context)).toEqual(found)
  })

  test.each<readonly [string, (expected: ExpectedState) => void, readonly ObservedCompute[]]>([
    ['the plan knew it there', () => undefined, [replica('ep-1', 'r')]],
    ['this run created it', (expected) => expected.made('ep-1'), []],
  ])('does not count if %s', async (_why, prepare, known) => {
    const { api, expected, context } = contextOf([replica('ep-1', 'r')], known)
    prepare(expected)
    expect(await findInPlace(create, context, { others: new Set() })).toBeUndefined()
    expect(await findOther(create, undefined, context)).toBeUndefined()
    expect(api.reads).not.toContain('getCompute')
  })

  test('counts if the plan knew it elsewhere', async () => {
    const { context } = contextOf([replica('ep-1', 'r')], [replica('ep-1', 'r', { branchId: 'br-dev' })])
    expect(await findInPlace(create, context, { others: new Set() })).toMatchObject({ id: 'ep-1' })
    expect(await findOther(create, undefined, context)).toMatchObject({ id: 'ep-1' })
  })

  test('is never the own compute of the step', async () => {
    const { context } = contextOf([replica('ep-1', 'r')])
    expect(await findOther(create, 'ep-1', context)).toBeUndefined()
  })

  test('is read by its id, because the list may be stale', async () => {
    const { api, context } = contextOf([replica('ep-1', 'r', { branchId: 'br-dev' })])
    const stale = { ...context, api: { ...api, listComputes: async () => [replica('ep-1', 'r')] } }
    expect(await findOther(create, undefined, stale)).toBeUndefined()
    const others = new Set<string>()
    expect(await findInPlace(create, stale, { others })).toBeUndefined()
    expect([...others]).toEqual(['ep-1'])
  })

  test.each<readonly [string, string | undefined, string, boolean]>([
    ['on the branch', 'br-main', 'ep-1', true],
    ['that names no branch', undefined, 'ep-1', true],
    ['on another branch', 'br-dev', 'ep-1', false],
    ['on a compute that was ruled out', 'br-main', 'ep-out', false],
    ['on a compute that the plan knew', 'br-main', 'ep-known', false],
    ['on a compute that is listed elsewhere', 'br-main', 'ep-listed', false],
  ])('is found through an operation %s: %s', async (_what, branchId, endpointId, isRead) => {
    const listed = replica('ep-listed', 'r', { branchId: 'br-dev' })
    const known = replica('ep-known', 'other')
    const { api, context } = contextOf([replica('ep-1', 'r'), replica('ep-out', 'r'), listed, known], [known])
    const behind: RunContext = {
      ...context,
      api: {
        ...api,
        listComputes: async () => [listed],
        listOperations: async () => ({ operations: [operation('op', { endpointId, ...(branchId && { branchId }) })] }),
      },
    }
    const found = await findInPlace(create, behind, { others: new Set(['ep-out']) })
    expect(found?.id).toBe(isRead ? 'ep-1' : undefined)
    expect(api.reads.includes('getCompute')).toBe(isRead)
  })
})

describe('a compute before a request that is no step of a plan', () => {
  const known = compute('ep-1')
  const branches = (more: Partial<ObservedBranch> = {}) => ({ listBranches: async () => [{ ...MAIN, ...more }] })

  test.each<readonly [string, readonly ObservedCompute[], Partial<ObservedBranch>, readonly object[]]>([
    ['has not changed', [known], {}, []],
    ['was deleted', [], {}, [{ what: 'compute', before: 'ep-1', after: 'deleted' }]],
    ['is on another branch', [{ ...known, branchId: 'br-x' }], {}, [{ what: 'branch', before: 'main', after: 'br-x' }]],
    ['is on a renamed branch', [known], { name: 'new' }, [{ what: 'branch name', before: 'main', after: 'new' }]],
    [
      'is on a branch that is protected now',
      [known],
      { isProtected: true },
      [{ what: 'main is protected:', before: 'no', after: 'yes' }],
    ],
  ])('%s', async (_what, live, branch, moved) => {
    const { clock, context } = contextOf(live, [known])
    const reading = { ...context, api: { ...context.api, ...branches(branch) } }
    expect(await movedCompute('p', 'ep-1', reading)).toEqual(moved)
    // A change is read again twice, because a read may be stale.
    expect(clock.slept).toHaveLength(moved.length === 0 ? 0 : 2)
  })

  test('is not known if the snapshot does not contain it', async () => {
    const { context } = contextOf([known])
    expect(await movedCompute('p', 'ep-1', context)).toMatchObject([{ before: 'not in the snapshot of the plan' }])
  })
})

describe('the restart windows of a step', () => {
  const at = (time: string): number => Date.parse(`2026-11-22T${time}:00Z`)
  const window: RestartWindow = { days: ['sun'], from: '02:00', to: '04:00', timezone: 'UTC' }
  const windowed = (id: string, windows: readonly RestartWindow[] = [window]): Step => step(id, { windows })

  test('open and close during a run', () => {
    let now = at('01:00')
    const opening = openingsOf({ now: () => now }, () => 0)
    const isOpen = (time: string): boolean => {
      now = at(time)
      return opening(windowed('s')).isOpen
    }
    expect(['01:00', '01:59', '02:00', '03:59', '04:00'].map(isOpen)).toEqual([false, false, true, true, false])
  })

  test('are judged for each step by how long its chain takes', () => {
    const opening = openingsOf({ now: () => at('03:50') }, ({ id }) => (id === 'long' ? 1_800_000 : 0))
    expect(['long', 'short', 'long'].map((id) => opening(windowed(id)).isOpen)).toEqual([false, true, false])
  })

  test.each<readonly [string, readonly RestartWindow[], string | undefined, string]>([
    [
      'opens',
      [window],
      'Sun 29 Nov 02:00 UTC',
      'It waits for its restart window, Sun 02:00–04:00 UTC, which opens on Sun 29 Nov 02:00 UTC.',
    ],
    [
      'is unknown',
      [{ ...window, days: [] }],
      undefined,
      "It waits for the project's maintenance window, which is unknown.",
    ],
    [
      'is never open together with another one',
      [window, { ...window, from: '05:00', to: '06:00' }],
      undefined,
      'It waits for its restart windows, Sun 02:00–04:00 UTC and Sun 05:00–06:00 UTC, which are never open at the same time within a year, or too short for the steps.',
    ],
  ])('are named if one %s', (_what, windows, opensLocally, message) => {
    const opening = { isOpen: false, ...(opensLocally && { opensLocally, opensAt: '2026-11-29T02:00:00Z' }) }
    expect(scheduledStep(windowed('s', windows), opening)).toMatchObject({ status: 'scheduled', message })
  })

  test('of which one is unknown are waited for as unknown, even beside a known one', () => {
    const { message } = scheduledStep(windowed('s', [window, { ...window, days: [] }]), { isOpen: false })
    expect(message).toMatch(/^It waits for Sun .* and the project's maintenance window, which is unknown\.$/)
  })
})
