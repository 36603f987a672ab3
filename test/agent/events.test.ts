/** Which events are raised, and when. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AgentEvent, keptOf, withoutEvent } from '../../src/agent/events/kept.ts'
import { observeAccount, observeProject, observeRepository, removeProject } from '../../src/agent/events/observe.ts'
import { cloudEvent, eventHeaders, webhookKey } from '../../src/agent/events/webhook.ts'
import { notifyKey, sendTo } from '../../src/agent/index.ts'
import { AGENT_STATES, type AgentStatus, type ProjectView } from '../../src/model/index.ts'
import { at, project, START, viewOf } from './fake-control.ts'
import { EVERY_STATE } from './views.ts'

const MINUTE = 60_000

/** The state after rounds of one project, five minutes apart unless `seconds` gives their times. */
const afterRounds = (rounds: readonly (Partial<ProjectView> & { readonly seconds?: number })[]) => {
  let kept: unknown
  for (const [index, { seconds = index * 300, ...shown }] of rounds.entries()) {
    // As read from disk.
    kept = JSON.parse(JSON.stringify(observeProject(project('p-1', shown), kept, START + seconds * 1_000, true)))
  }
  return keptOf(kept)
}
const typesOf = ({ pending }: { readonly pending: readonly AgentEvent[] }): readonly string[] =>
  pending.map(({ type, data }) => [type, data.reason ?? data.state].filter((one) => one !== undefined).join(' '))

const DRIFT = { state: 'OutOfSync', reason: 'Drift' } as const
const CONFLICT = { state: 'Blocked', reason: 'Conflict' } as const
const GOOD = { state: 'Synced' } as const

describe('raising a condition', () => {
  test('an event is raised once a state has lasted a minute, and not again while it lasts', () => {
    expect(typesOf(afterRounds([DRIFT]))).toEqual([])
    expect(typesOf(afterRounds([DRIFT, { ...DRIFT, seconds: 59 }]))).toEqual([])
    expect(typesOf(afterRounds([DRIFT, { ...DRIFT, seconds: 60 }]))).toEqual(['out-of-sync Drift'])
    expect(typesOf(afterRounds([DRIFT, DRIFT, DRIFT, DRIFT]))).toEqual(['out-of-sync Drift'])
  })

  test('no event is raised for a state that lasts less than a minute', () => {
    expect(typesOf(afterRounds([DRIFT, { ...GOOD, seconds: 30 }, { ...DRIFT, seconds: 70 }]))).toEqual([])
  })

  test('only one event is raised even if the message, counts and times of the state change', () => {
    const rounds = [1, 2, 3].map((count) => ({
      state: 'Failing' as const,
      message: `attempt ${count} failed`,
      until: at(count * 30),
      since: at(count),
    }))
    expect(typesOf(afterRounds(rounds))).toEqual(['failing Failing'])
  })

  test('a condition is raised again after it was resolved', () => {
    expect(typesOf(afterRounds([DRIFT, DRIFT, GOOD, GOOD, DRIFT, DRIFT]))).toEqual([
      'out-of-sync Drift',
      'resolved Drift',
      'out-of-sync Drift',
    ])
  })

  test('each reason raises an event, including reasons for differences that a worse state hides', () => {
    const [difference] = EVERY_STATE.flatMap(({ differences }) => differences)
    if (difference === undefined) throw new Error('no difference')
    const both = { ...CONFLICT, differences: [{ ...difference, ...DRIFT }] }
    expect(typesOf(afterRounds([both, both]))).toEqual(['blocked Conflict', 'out-of-sync Drift'])
  })

  test.each<AgentStatus>([
    { state: 'OutOfSync', reason: 'DriftUnconfirmed' },
    { state: 'Scheduled' },
    { state: 'Progressing' },
    { state: 'Unknown' },
    { state: 'Synced' },
    { state: 'Failing', reason: 'Unreachable' },
    { state: 'Failing', reason: 'KeyRefused' },
    { state: 'Blocked', reason: 'GitStale' },
  ])('no event is raised for a project in the state $state $reason', (status) => {
    expect(typesOf(afterRounds([status, status, status]))).toEqual([])
  })
})

describe('resolving a condition', () => {
  test('a condition is resolved after two good rounds in a row', () => {
    expect(typesOf(afterRounds([DRIFT, DRIFT, GOOD]))).toEqual(['out-of-sync Drift'])
    expect(typesOf(afterRounds([DRIFT, DRIFT, GOOD, DRIFT, GOOD]))).toEqual(['out-of-sync Drift'])
    expect(typesOf(afterRounds([DRIFT, DRIFT, GOOD, GOOD]))).toEqual(['out-of-sync Drift', 'resolved Drift'])
  })

  test('a condition is resolved only by rounds, never by time alone', () => {
    let kept: unknown = afterRounds([DRIFT, DRIFT])
    for (const minutes of [10, 20, 30]) kept = observeProject(project('p-1'), kept, START + minutes * MINUTE, false)
    expect(typesOf(keptOf(kept))).toEqual(['out-of-sync Drift'])
  })

  test('a resolved event names the event that it resolves', () => {
    const [raised, resolved] = afterRounds([DRIFT, DRIFT, GOOD, GOOD]).pending
    expect(resolved?.data).toMatchObject({ resolves: raised?.id, since: at(0) })
  })

  test.each<AgentStatus>([
    { state: 'Suspended' },
    { state: 'Invalid' },
    { state: 'Failing', reason: 'Unreachable' },
    { state: 'Blocked', reason: 'PlanError' },
    { state: 'Unknown' },
  ])('a condition is not resolved while the state $state $reason hides it', (status) => {
    expect(typesOf(afterRounds([DRIFT, DRIFT, status, status, status]))).not.toContain('resolved Drift')
  })

  test('a worse state is resolved even if a lesser one remains', () => {
    expect(typesOf(afterRounds([CONFLICT, CONFLICT, DRIFT, DRIFT]))).toEqual([
      'blocked Conflict',
      'resolved Conflict',
      'out-of-sync Drift',
    ])
  })
})

test('for any sequence of states, raised and resolved events alternate and every event id is unique', () => {
  const status = fc.constantFrom<AgentStatus>(
    DRIFT,
    CONFLICT,
    GOOD,
    ...AGENT_STATES.map((state) => ({ state })),
    { state: 'OutOfSync', reason: 'DriftUnconfirmed' },
    { state: 'Failing', reason: 'Unreachable' },
  )
  fc.assert(
    fc.property(fc.array(fc.record({ status, wait: fc.constantFrom(1, 30, 60, 300) }), { maxLength: 40 }), (rounds) => {
      let seconds = 0
      const kept = afterRounds(
        rounds.map(({ status, wait }) => {
          seconds += wait
          return { ...status, seconds }
        }),
      )
      const open = new Set<string>()
      for (const { id, type, data } of kept.pending) {
        const key = JSON.stringify([data.state, data.reason])
        if (type === 'resolved') {
          expect(open.delete(key)).toBe(true)
        } else if (type !== 'suspended' && type !== 'resumed') {
          expect(open.has(key)).toBe(false)
          open.add(key)
        }
        expect(id).toMatch(/^evt_[\w-]{27}$/)
      }
      expect(new Set(kept.pending.map(({ id }) => id)).size).toBe(kept.pending.length)
    }),
  )
})

describe('single events', () => {
  const APPLY = { at: at(100), version: 'abc', done: ['update primary on main'], interruptions: 1 }
  const MISSED = { opensAt: at(0), closesAt: at(60), cause: 'agent-down' } as const

  test('an apply and a missed window each raise one event, even across restarts', () => {
    const rounds = [
      { lastApply: APPLY },
      { lastApply: APPLY, missedWindow: MISSED },
      { lastApply: APPLY, missedWindow: MISSED },
    ]
    expect(afterRounds(rounds).pending.map(({ type, data }) => [type, data.done ?? data.cause])).toEqual([
      ['applied', ['update primary on main']],
      ['window.missed', 'agent-down'],
    ])
  })

  test('an apply is not reported again after other rounds', () => {
    expect(typesOf(afterRounds([{ lastApply: APPLY }, {}, { lastApply: APPLY }]))).toEqual(['applied'])
  })

  test('a suspension and its end each raise an event', () => {
    const suspended = { state: 'Suspended', message: 'a migration', until: at(7_200) } as const
    const { pending } = afterRounds([GOOD, suspended, suspended, GOOD])
    expect(pending.map(({ type, data }) => [type, data.message, data.until])).toEqual([
      ['suspended', 'a migration', at(7_200)],
      ['resumed', undefined, undefined],
    ])
  })

  test('the state of a removed project is kept until its events are delivered', () => {
    const kept = removeProject('p-1', afterRounds([DRIFT, DRIFT]), START)
    const [raised, removed] = kept.pending
    expect(removed?.type).toBe('removed')
    const left = withoutEvent(kept, raised?.id ?? '')
    expect(left?.pending).toEqual([removed])
    expect(withoutEvent(left, removed?.id ?? '')).toBeUndefined()
  })
})

describe('conditions of an account or the repository', () => {
  const unreachable = { state: 'Failing', reason: 'Unreachable', message: 'no answer' } as const
  const down = viewOf(['a', 'b', 'c'].map((id) => project(id, unreachable)))

  test('an outage raises one event for all projects of the account, which is resolved once no project is affected', () => {
    let kept: unknown
    const round = (view: typeof down, minutes: number): void => {
      kept = observeAccount('default', view, kept, START + minutes * MINUTE, true)
    }
    for (const minutes of [0, 1, 2]) round(down, minutes)
    const [event] = keptOf(kept).pending
    expect(event).toMatchObject({ type: 'failing', data: { account: 'default', projects: 3, message: 'no answer' } })
    round(viewOf([project('a'), project('b'), project('c', unreachable)]), 3)
    for (const minutes of [4, 5]) round(viewOf([project('a'), project('b'), project('c')]), minutes)
    expect(typesOf(keptOf(kept))).toEqual(['failing Unreachable', 'resolved Unreachable'])
  })

  test.each([
    ['that cannot be fetched', 'Failing', 'failing', 'no route to host'],
    ['with an error that no project shows', 'Invalid', 'invalid', 'new.yaml:3:1: This is not valid YAML'],
  ] as const)('one event is raised for a repository %s', (_, errorState, type, error) => {
    const { source } = down
    let kept: unknown
    for (const minutes of [0, 1, 2]) {
      const view = viewOf([], { source: { ...source, error, errorState } })
      kept = observeRepository(view, kept, START + minutes * MINUTE, false)
    }
    expect(keptOf(kept).pending).toMatchObject([{ type, data: { repository: source.from, message: error } }])
  })
})

describe('the event that is sent', () => {
  const [event] = afterRounds([{ ...DRIFT, differences: EVERY_STATE[2]?.differences ?? [] }, DRIFT]).pending

  test('an event is encoded as a CloudEvent', () => {
    if (event === undefined) throw new Error('no event')
    expect(JSON.parse(cloudEvent('p-1', event, 'https://git.example/team/computes.git'))).toMatchObject({
      specversion: '1.0',
      id: event.id,
      source: 'urn:espalier:agent:https%3A%2F%2Fgit.example%2Fteam%2Fcomputes.git',
      type: 'dev.espalier.out-of-sync',
      subject: 'p-1',
      time: at(300),
      datacontenttype: 'application/json',
      data: { project: { id: 'p-1' }, account: 'default', state: 'OutOfSync', reason: 'Drift' },
    })
  })

  test('an event names the differing attributes but contains no live or declared values', () => {
    const secret = { ...EVERY_STATE[2]?.differences[0], live: 'secret-live', want: 'secret-want' }
    const kept = afterRounds(
      [1, 2].map(() => ({ ...DRIFT, differences: [secret as ProjectView['differences'][number]] })),
    )
    const text = cloudEvent('p-1', kept.pending[0] as AgentEvent, 'x')
    expect(text).toContain('autoscaling.maxCu')
    expect(text).not.toContain('secret')
  })

  test('an event names at most 20 differences', () => {
    const [difference] = EVERY_STATE[2]?.differences ?? []
    const many = Array.from({ length: 50 }, () => difference as ProjectView['differences'][number])
    const { pending } = afterRounds([1, 2].map(() => ({ ...DRIFT, differences: many })))
    expect(pending[0]?.data).toMatchObject({ moreDifferences: 30 })
  })

  /** The test vector of the Standard Webhooks reference libraries. */
  test('an event is signed as specified by Standard Webhooks', () => {
    const key = webhookKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
    if (key === undefined) throw new Error('no key')
    expect(eventHeaders(key, 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330, '{"test": 2432232314}')).toMatchObject({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    })
  })

  test.each([
    '',
    'secret',
    'whsec_',
    'whsec_c2hvcnQ=',
    `whsec_${'A'.repeat(200)}`,
    'whsec_not base64 at all, but long enough',
  ])('notifyKey rejects %j, which is not a Standard Webhooks secret', (text) => {
    expect(() => notifyKey(text)).toThrow('--notify-secret-file')
  })

  test.each(['', 'hooks.example', 'ftp://hooks.example/token-1', 'file:///token-1'])(
    'sendTo rejects the URL %j without repeating it in the message',
    (url) => {
      expect(() => sendTo(url)).toThrow(/^--notify must be an http or https URL\.$/)
    },
  )
})
