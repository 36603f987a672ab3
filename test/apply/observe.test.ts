/** What a step did to connections, compared with what was predicted. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { createWriteApi, type Operation } from '../../src/api/index.ts'
import { type Evidence, isAtRest, observe } from '../../src/apply/after/observe.ts'
import { parseManifests } from '../../src/manifest/index.ts'
import type { ApplyEvent } from '../../src/model/index.ts'
import { outcomeComment, terminalOutcome } from '../../src/report/index.ts'
import { type FaultOrder, manualClock, startSandbox } from '../../src/sandbox/index.ts'
import { apply } from '../../src/workflow/index.ts'
import { compute, operation } from './fake-api.ts'

const at = (minute: number): string => `2026-03-01T12:${String(minute).padStart(2, '0')}:00Z`
const BEFORE = compute('ep-1', { startedAt: at(0), suspendedAt: at(0), updatedAt: at(10) })
const RESTARTED = { ...BEFORE, startedAt: at(20), updatedAt: at(20) }
const SUSPENDED = { ...BEFORE, state: 'idle', suspendedAt: at(20) }
const IDLE = { ...BEFORE, state: 'idle' }

const op = (id: string, action: string, minute: number, more: Partial<Operation> = {}): Operation =>
  operation(id, {
    action,
    endpointId: 'ep-1',
    status: 'finished',
    createdAt: at(minute),
    updatedAt: at(minute),
    ...more,
  })
const OWN = op('own', 'apply_config', 20)
const without = <K extends 'startedAt' | 'suspendedAt' | 'updatedAt'>(
  key: K,
  { [key]: _left, ...rest }: typeof BEFORE,
) => rest
const NEVER = without('updatedAt', BEFORE)

const evidence = (overrides: Partial<Evidence>): Evidence => ({
  before: BEFORE,
  after: BEFORE,
  own: ['own'],
  listed: [OWN],
  lost: 'no',
  updateDue: undefined,
  ...overrides,
})

test.each<[string, Partial<Evidence>, string, string?]>([
  ['the start has moved', { after: RESTARTED }, 'restarted', at(20)],
  ['it is equal', {}, 'no-restart-seen'],
  [
    'there was a foreign restart before',
    { after: RESTARTED, listed: [OWN, op('a', 'start_compute', 10)] },
    'restarted',
    at(20),
  ],
  [
    'there was a foreign start in between',
    { after: RESTARTED, listed: [op('a', 'start_compute', 21), OWN] },
    'restarted-cause-unknown',
    at(20),
  ],
  [
    'there was a foreign change in between',
    { after: RESTARTED, listed: [op('a', 'apply_config', 15), OWN] },
    'restarted-cause-unknown',
    at(20),
  ],
  [
    'another compute was restarted',
    { after: RESTARTED, listed: [op('a', 'start_compute', 21, { endpointId: 'ep-2' }), OWN] },
    'restarted',
    at(20),
  ],
  [
    'its availability was checked',
    { after: RESTARTED, listed: [op('a', 'check_availability', 21), OWN] },
    'restarted',
    at(20),
  ],
  ['the list does not show the own operation', { after: RESTARTED, listed: [] }, 'restarted-cause-unknown', at(20)],
  ['no list was read', { after: RESTARTED, listed: undefined }, 'restarted-cause-unknown', at(20)],
  ['the response was lost, and its operation restarted it', { after: RESTARTED, lost: 'yes' }, 'restarted', at(20)],
  ['the request was sent twice', { after: RESTARTED, lost: 'sent again' }, 'restarted-cause-unknown', at(20)],
  [
    'a service update is due within the hour',
    { after: RESTARTED, updateDue: Date.parse(at(59)) },
    'restarted-cause-unknown',
    at(20),
  ],
  [
    'a service update is due later',
    { after: RESTARTED, updateDue: Date.parse('2026-03-01T13:21:00Z') },
    'restarted',
    at(20),
  ],
  [
    'the step suspended it',
    { after: SUSPENDED, own: ['s'], listed: [op('s', 'suspend_compute', 20)] },
    'suspended',
    at(20),
  ],
  [
    'it suspended itself',
    { after: SUSPENDED, listed: [op('a', 'suspend_compute', 20), OWN] },
    'suspended-by-itself',
    at(20),
  ],
  [
    'it was suspended during a step that starts no operation',
    { after: SUSPENDED, own: [], listed: undefined },
    'suspended-by-itself',
    at(20),
  ],
  ['it was idle', { before: IDLE, after: IDLE }, 'was-idle'],
  [
    'it was idle, and a user woke it',
    { before: IDLE, after: RESTARTED, listed: [op('a', 'start_compute', 20), OWN] },
    'woke',
  ],
  ['the service does not show the start', { before: without('startedAt', BEFORE) }, 'unknown'],
  ['the service no longer shows the start', { after: without('startedAt', BEFORE) }, 'unknown'],
  ['it was not read afterwards', { after: undefined }, 'unknown'],
  ['the response was lost, and no operation was found', { lost: 'yes', own: [] }, 'unknown'],
  ['the response was lost, and its operation was found', { lost: 'yes' }, 'no-restart-seen'],
  [
    'only one of its operations is in the list',
    { after: RESTARTED, own: ['own', 'second'] },
    'restarted-cause-unknown',
    at(20),
  ],
  ['the step started no operation', { after: RESTARTED, own: [], listed: [] }, 'restarted-cause-unknown', at(20)],
  ['the step started no operation, and nothing happened', { own: [] }, 'no-restart-seen'],
  [
    'it is unknown when it was read, and there was a foreign start',
    { before: NEVER, after: RESTARTED, listed: [op('a', 'start_compute', 1), OWN] },
    'restarted-cause-unknown',
    at(20),
  ],
  [
    'a service update was due exactly an hour earlier',
    { after: RESTARTED, updateDue: Date.parse('2026-03-01T11:20:00Z') },
    'restarted-cause-unknown',
    at(20),
  ],
  ['it was not read before', { before: undefined }, 'unknown'],
  ['it was idle, and only its own operation woke it', { before: IDLE, after: RESTARTED }, 'was-idle'],
  [
    'it was idle, and is awake after a foreign change',
    { before: IDLE, after: RESTARTED, listed: [op('a', 'apply_config', 20), OWN] },
    'was-idle',
  ],
  ['it was idle, and no list was read', { before: IDLE, after: RESTARTED, listed: undefined }, 'was-idle'],
  [
    'it was idle, and is so again after a foreign start',
    { before: IDLE, after: IDLE, listed: [op('a', 'start_compute', 20), OWN] },
    'was-idle',
  ],
  ['the service no longer shows the suspension', { after: without('suspendedAt', BEFORE) }, 'no-restart-seen'],
])('if %s', (_, overrides, observed, when) => {
  expect(observe(evidence(overrides))).toEqual(when === undefined ? { observed } : { observed, at: when })
})

test.each([
  ['is', {}, true],
  ['is', { pendingState: 'active' }, true],
  ['is not', { pendingState: 'idle' }, false],
])('a compute %s at rest with %j', (_, overrides, expected) => {
  expect(isAtRest({ ...BEFORE, ...overrides })).toBe(expected)
})

describe('in a run', () => {
  const open = async (primary: string) => {
    const clock = manualClock(Date.now())
    const computes = [{ id: 'ep-1', size: 1, scaleToZero: 'never' as const }]
    const sandbox = await startSandbox({
      clock,
      background: false,
      seed: { projects: [{ id: 'shop', branches: [{ name: 'main', computes }] }] },
    })
    onTestFinished(() => sandbox.close())
    await clock.advance(3_600_000)
    const time = { now: () => clock.now(), sleep: (ms: number) => clock.advance(ms) }
    const api = createWriteApi({ baseUrl: sandbox.apiUrl, apiKey: sandbox.apiKey, clock: time, rateLimit: false })
    onTestFinished(() => api.close())
    const byHand = async (action: string): Promise<void> => {
      const headers = { authorization: `Bearer ${sandbox.apiKey}` }
      await fetch(`${sandbox.apiUrl}/projects/shop/endpoints/ep-1/${action}`, { method: 'POST', headers })
      await clock.advance(5_000)
    }
    const run = async (...faults: readonly FaultOrder[]) => {
      for (const fault of faults) sandbox.control.addFault(fault)
      const text = `version: 1\nproject: shop\nbranches: { main: { primary: ${primary} } }\n`
      const events: ApplyEvent[] = []
      const applied = await apply({
        manifests: { loaded: parseManifests([{ path: 'a.yaml', text }]), paths: [] },
        open: async () => ({ api, close: async () => undefined }),
        clock: time,
        consent: { allow: new Set(['restart', 'disconnect']) },
        watch: () => ({
          event: async (event) => {
            events.push(event)
          },
          end: async () => undefined,
        }),
      })
      if (applied.kind !== 'ended') throw new Error(applied.kind)
      const [step] = applied.outcome.steps
      const { predicted, observed } = step?.observation ?? {}
      return { ...applied, events, status: step?.status, predicted, observed }
    }
    return { run, byHand }
  }
  const SETTINGS = '{ scaleToZero: 7d }'
  const SIZE = '{ size: 2 }'
  test('an idle compute is not interrupted', async () => {
    const { run, byHand } = await open(SIZE)
    await byHand('suspend')
    expect(await run()).toMatchObject({ predicted: 'none', observed: 'was-idle' })
  })

  test('an interruption that was not predicted is an event and a note, and does not fail the run', async () => {
    const { run } = await open(SETTINGS)
    const { plan, outcome, events, status } = await run({
      on: 'operation',
      action: 'apply_config',
      effect: { kind: 'restart' },
    })
    expect(status).toBe('done')
    const own = events.filter(({ type }) => type === 'unpredicted' || type === 'step-end')
    const observation = { predicted: 'none', observed: 'restarted', at: expect.stringMatching(/Z$/) }
    expect(own).toMatchObject([
      { type: 'unpredicted', observation },
      { type: 'step-end', outcome: { observation } },
    ])
    const words =
      /Not predicted: update primary on main \(ep-1\) in project .?shop.? restarted at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\./
    expect(terminalOutcome(plan, outcome, { color: false, width: 200 })).toMatch(words)
    const comment = outcomeComment({
      plan,
      outcome,
      marker: '',
      name: '',
      commit: 'abc',
      whole: 'the log',
    } as Parameters<typeof outcomeComment>[0])
    expect(comment).toContain('⚠️ not predicted: restarted at ')
  })
})
