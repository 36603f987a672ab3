/** Branches whose primary a run takes away: the steps that give them another run nevertheless, or the outcome says so. */
import { describe, expect, test } from 'vitest'
import { ApiError } from '../../src/api/index.ts'
import type { ApplyOptions } from '../../src/apply/index.ts'
import { lostPrimariesOf } from '../../src/apply/lost-primaries.ts'
import {
  exitCodeOf,
  type Observed,
  type Outcome,
  type Plan,
  type RestartWindow,
  type StepOutcome,
  type StepRequest,
} from '../../src/model/index.ts'
import { type DeclaredDocument, PROJECT, planOf, world } from '../planner/world.ts'
import { blindAfterwards, type FakeApi, fakeApi, fakeClock, lost, refused, type Script } from './fake-api.ts'
import { allow, apply, step } from './small-plans.ts'

const ALL = allow('move', 'replace', 'delete', 'disconnect')
const LIVE = world({ main: { primary: { id: 'ep-a' } }, dev: { primary: { id: 'ep-b' } }, park: {} })
/** The first step parks a primary, so that both branches are without one for a while. */
const SWAP: DeclaredDocument = {
  branches: { main: { primary: { id: 'ep-b' } }, dev: { primary: { id: 'ep-a' } } },
  parkOn: 'park',
}
const PRUNED: DeclaredDocument = { branches: { main: { primary: { id: 'ep-b' } }, dev: {} }, prune: true }
const NEW: DeclaredDocument = { branches: { main: { primary: {} }, park: { primary: { id: 'ep-a' } } } }
const REPLACED: DeclaredDocument = { branches: { main: { primary: { id: 'ep-r' } } }, prune: true }

interface Ran {
  readonly outcome: Outcome
  readonly api: FakeApi
}

const run = async (
  plan: Plan,
  options: Partial<ApplyOptions> = {},
  script: Script = {},
  live: Observed = LIVE,
): Promise<Ran> => {
  const [branches, computes] = [
    live.projects.flatMap((one) => one.branches),
    live.projects.flatMap((one) => one.computes),
  ]
  const api = fakeApi({ branches, computes, ...script })
  return { api, outcome: await apply({ plan, api, observed: live, consent: ALL, ...options }) }
}
const primaries = ({ computes }: FakeApi) =>
  Object.fromEntries([...computes.values()].map(({ id, branchId }) => [branchId, id]))
const statusesOf = ({ steps }: Outcome) => steps.map(({ status, reason }) => reason ?? status)
/** Rejects the n-th request. */
const rejecting = (nth: number, error: Error = refused(422)): Script => ({
  onSend: (attempt, _request, perform) => {
    if (attempt >= nth) throw error
    return perform()
  },
})
const stoppingAt = (nth: number, controller: AbortController): Partial<ApplyOptions> => {
  let calls = 0
  return {
    onEvent: ({ type }) => {
      if (type === 'call') calls += 1
      if (calls === nth) controller.abort()
    },
  }
}

describe('a chain that has begun is completed', () => {
  test('after a stop', async () => {
    const stop = new AbortController()
    const plan = planOf({ ...SWAP, branches: { ...SWAP.branches, park: { replicas: { r: {} } } } }, LIVE)
    const more = { ...plan, steps: [...plan.steps, step('last', { project: PROJECT })] }
    const { outcome, api } = await run(more, { stop: stop.signal, ...stoppingAt(2, stop) })
    expect(statusesOf(outcome)).toEqual(['done', 'done', 'done', 'done', 'interrupted'])
    expect(primaries(api)).toMatchObject({ 'br-main': 'ep-b', 'br-dev': 'ep-a' })
    expect(outcome).toMatchObject({ interrupted: true, notes: [] })
  })

  test('but not begun after a stop', async () => {
    const stop = new AbortController()
    stop.abort()
    const { outcome, api } = await run(planOf(SWAP, LIVE), { stop: stop.signal })
    expect(statusesOf(outcome)).toEqual(['interrupted', 'interrupted', 'interrupted'])
    expect(api.sent).toEqual([])
    expect(outcome.notes).toEqual([])
  })

  test('after too many failures in another project', async () => {
    const plan = planOf(SWAP, LIVE)
    const other = step('other', { project: 'q', request: { ...step('x').request, path: '/projects/q/endpoints/ep-1' } })
    const last = step('last', { project: PROJECT })
    const { outcome, api } = await run(
      { ...plan, steps: [other, ...plan.steps, last] },
      { maxFailures: 0 },
      {
        onSend: (_attempt, { path }: StepRequest, perform) => {
          if (path.startsWith('/projects/q/')) throw refused(422)
          return perform()
        },
      },
      { ...LIVE, projects: LIVE.projects.map((one) => ({ ...one, computes: [...one.computes, ...OTHER] })) },
    )
    expect(statusesOf(outcome)).toEqual(['apply-failed', 'done', 'done', 'done', 'too-many-failures'])
    expect(primaries(api)).toMatchObject({ 'br-main': 'ep-b', 'br-dev': 'ep-a' })
    expect(outcome.notes).toEqual([])
  })

  test('after its restart window has closed, but then no other step in this window starts', async () => {
    const window: RestartWindow = { days: ['thu'], from: '00:00', to: '00:01', timezone: 'UTC' }
    const clock = fakeClock()
    await clock.sleep(38_000)
    const plan = planOf({ ...PRUNED, restartWindow: window }, LIVE)
    const { outcome } = await run(
      {
        ...plan,
        steps: [
          ...plan.steps,
          step('next', { project: PROJECT, windows: [window], after: plan.steps.map(({ id }) => id) }),
        ],
      },
      { clock },
      { statuses: [...Array<string>(20).fill('running'), 'finished'] },
    )
    expect(statusesOf(outcome)).toEqual(['done', 'done', 'outside-window'])
  })

  test('with --now, outside its restart window, which is recorded for each disruptive step', async () => {
    const window: RestartWindow = { days: ['fri'], from: '00:00', to: '01:00', timezone: 'UTC' }
    const main = { primary: { id: 'ep-b', restartWindow: window } }
    const plan = planOf({ ...PRUNED, branches: { ...PRUNED.branches, main }, restartWindow: window }, LIVE)
    const { outcome } = await run(plan, { ignoreWindows: true })
    expect(statusesOf(outcome)).toEqual(['done', 'done'])
    expect(outcome.notes).toEqual(['--now: 2 steps ran outside their restart windows.'])
  })

  test('but not begun if it does not fit into the rest of its restart window', async () => {
    const window: RestartWindow = { days: ['thu'], from: '00:00', to: '00:01', timezone: 'UTC' }
    const clock = fakeClock()
    await clock.sleep(50_000)
    const { outcome, api } = await run(planOf({ ...PRUNED, restartWindow: window }, LIVE), { clock })
    expect(statusesOf(outcome)).toEqual(['outside-window', 'outside-window'])
    expect(api.sent).toEqual([])
  })
})

const OTHER = world({ other: { primary: { id: 'ep-1' } } }).projects.flatMap(({ computes }) => computes)

describe('a branch that is left without its primary is named, with the command that gives it one', () => {
  const REJECTED: readonly (readonly [string, DeclaredDocument, string])[] = [
    [
      'a swap',
      SWAP,
      'Branch `main` of project `quiet-river-12345678` has no primary now: ep-a was moved away, and ep-b was not moved to it. To give it one, fix the cause of the failure and run `espalier apply --project quiet-river-12345678 --allow move`.',
    ],
    [
      'a deletion',
      PRUNED,
      'Branch `main` of project `quiet-river-12345678` has no primary now: ep-a was deleted, and ep-b was not moved to it. To give it one, fix the cause of the failure and run `espalier apply --project quiet-river-12345678 --allow move`.',
    ],
    [
      'a move',
      NEW,
      'Branch `main` of project `quiet-river-12345678` has no primary now: ep-a was moved away, and its new primary was not created. To give it one, fix the cause of the failure and run `espalier apply --project quiet-river-12345678`.',
    ],
  ]

  test.each(REJECTED)('if the second step of %s is rejected', async (_, declared, note) => {
    const { outcome } = await run(planOf(declared, LIVE), {}, rejecting(2))
    expect(outcome.notes).toEqual([note])
    expect(exitCodeOf(outcome)).toBe(3)
  })

  test('together with the pin to remove, if its new primary was to replace a replica', async () => {
    const live = world({ main: { primary: { id: 'ep-a' }, replicas: [{ id: 'ep-r' }] } })
    const { outcome } = await run(planOf(REPLACED, live), {}, rejecting(3), live)
    expect(outcome.notes).toEqual([
      'Branch `main` of project `quiet-river-12345678` has no primary now: ep-a was deleted, and its new primary was not created.',
      'ep-r is deleted, but its successor was not created: remove its pin at espalier.yaml:1 and run `espalier apply` again.',
    ])
  })

  test('if everything stops immediately', async () => {
    const abort = new AbortController()
    const { outcome } = await run(planOf(PRUNED, LIVE), {
      abort: abort.signal,
      onEvent: (event) => {
        if (event.type === 'step-end') abort.abort()
      },
    })
    expect(statusesOf(outcome)).toEqual(['done', 'interrupted'])
    expect(outcome.notes).toEqual([
      'Branch `main` of project `quiet-river-12345678` has no primary now: ep-a was deleted, and ep-b was not moved to it. To give it one, run `espalier apply --project quiet-river-12345678 --allow move`.',
    ])
  })

  test('if the journal can no longer be written', async () => {
    const { outcome } = await run(planOf(PRUNED, LIVE), {
      onEvent: (event) => {
        if (event.type === 'step-end') throw new Error('The disk is full.')
      },
    })
    expect(outcome.notes).toEqual([expect.stringContaining('has no primary now'), 'The disk is full.'])
  })

  test.each([
    ['of the deletion', 1, 'ep-a may have been deleted, and ep-b was not moved to it.'],
    ['of the move', 2, 'ep-a was deleted, and ep-b may not have been moved to it.'],
  ])('as uncertain, if every response %s is lost', async (_, nth, words) => {
    const { outcome } = await run(planOf(PRUNED, LIVE), {}, rejecting(nth, lost('PATCH')))
    expect(outcome.notes).toEqual([expect.stringContaining(`may have no primary now: ${words}`)])
  })

  test('as uncertain, if the read after the deletion is rejected', async () => {
    const [project] = LIVE.projects
    const api = fakeApi({ branches: project?.branches ?? [], computes: project?.computes ?? [] })
    const rejected = new ApiError('E_API', 'no', { method: 'GET', path: '/y', status: 404 })
    const { outcome } = await run(planOf(PRUNED, LIVE), { api: blindAfterwards(api, rejected) })
    expect(outcome.steps[0]).not.toHaveProperty('httpStatus')
    expect(outcome.notes).toEqual([expect.stringContaining('may have no primary now: ep-a may have been deleted')])
  })
})

describe('whether a failed step may have acted', () => {
  const plan = planOf(PRUNED, LIVE)
  const [frees, fills] = plan.steps
  const ended = (id = '', more: Partial<StepOutcome> = {}) =>
    [id, { step: id, status: 'done', operations: [], durationMs: 0, ...more }] as const
  const operations = [{ id: 'op-1', action: 'apply_config', status: 'failed', failuresCount: 1 }]

  test.each<readonly [string, Partial<StepOutcome>, boolean]>([
    ['is unknown without a response', { status: 'failed' }, true],
    ['is unknown after status 399', { status: 'failed', httpStatus: 399 }, true],
    ['is unknown after status 500', { status: 'failed', httpStatus: 500 }, true],
    ['is unknown if it has started an operation', { status: 'failed', httpStatus: 422, operations }, true],
    ['is no after status 400', { status: 'failed', httpStatus: 400 }, false],
    ['is no after status 499', { status: 'failed', httpStatus: 499 }, false],
    ['is no if it was skipped', { status: 'skipped', operations }, false],
  ])('%s', (_, outcome, isUncertain) => {
    const lost = lostPrimariesOf(plan)
    expect(lost.in(new Map([ended(frees?.id, outcome)]))).toEqual(
      isUncertain ? [{ frees, fills, isLossUncertain: true, isGainUncertain: false }] : [],
    )
    expect(lost.in(new Map([ended(frees?.id), ended(fills?.id, outcome)]))).toEqual([
      { frees, fills, isLossUncertain: false, isGainUncertain: isUncertain },
    ])
  })
})

test('if the first step of a chain fails, no branch has lost its primary', async () => {
  const { outcome } = await run(planOf(SWAP, LIVE), {}, rejecting(1))
  expect(statusesOf(outcome)).toEqual(['apply-failed', 'depends-on-failed', 'depends-on-failed'])
  expect(outcome.notes).toEqual([])
})

test('a step that is not allowed because of the step that must follow it names that step', async () => {
  const disabled: DeclaredDocument = {
    branches: { main: { primary: { id: 'ep-b', disabled: true } }, park: { primary: { id: 'ep-a' } } },
  }
  const { outcome, api } = await run(planOf(disabled, LIVE), { consent: allow('move') })
  expect(statusesOf(outcome)).toEqual(['not-consented', 'not-consented'])
  expect(outcome.steps.map(({ message }) => message)).toEqual([
    'Not allowed without --allow disconnect. It runs only together with move primary to main (ep-b).',
    'Not allowed without --allow disconnect.',
  ])
  expect(api.sent).toEqual([])
})
