/** The terminal output when faults occur: what happened, what was done, what was not, and what to run next. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { applyPlan } from '../../src/apply/index.ts'
import { CONSENTS } from '../../src/model/index.ts'
import { applyLog, terminalOutcome } from '../../src/report/index.ts'
import { type FaultOrder, worldOf } from '../../src/sandbox/index.ts'
import { planLive } from '../../src/workflow/index.ts'
import { part } from '../long-runs.ts'
import { world } from '../planner/world.ts'
import { faultKinds } from '../sandbox/fault-kinds.ts'
import { manifestsOf, openStage } from './stage.ts'

const STYLE = { color: false, width: 100 }

const LIVE = world({
  main: { primary: { size: 1 } },
  staging: { primary: { size: 1 }, replicas: [{ name: 'unasked', size: 1 }] },
})

/** An update, a create and a delete. Each fault affects one of them; the others must succeed. */
const MANIFESTS = manifestsOf({
  branches: { main: { primary: { size: 2 }, replicas: { reader: { size: 1 } } }, staging: { primary: {} } },
  prune: true,
})

/** The log of an apply without a terminal, and its outcome, with these faults. */
const outputWith = async (...faults: readonly FaultOrder[]): Promise<string> => {
  const stage = await openStage()
  const { sandbox, clock } = stage
  sandbox.control.load(worldOf(LIVE, clock.now()))
  const api = stage.connect({ lockTimeoutMs: 60_000 })
  const replan = () => planLive(api, MANIFESTS, { concurrency: 8, readsOperations: false })
  try {
    const { result, observed } = await stage.during(replan())
    if (!result.ok) throw new Error('no plan')
    const { plan } = result
    for (const fault of faults) sandbox.control.addFault(fault)
    const lines: string[] = []
    const log = applyLog(plan, STYLE, (line) => lines.push(line), clock.now)
    const outcome = await stage.during(
      applyPlan({
        plan,
        observed,
        api,
        clock,
        consent: { allow: new Set(CONSENTS) },
        operationTimeoutMs: 60_000,
        replan: async () => {
          sandbox.control.clearFaults()
          return (await replan()).result
        },
        onEvent: (event) => {
          stage.busy()
          log.report(event)
        },
      }),
    )
    log.end()
    return `${lines.join('\n')}\n${terminalOutcome(plan, outcome, STYLE)}`
  } finally {
    await api.close()
    await sandbox.close()
  }
}

const request = (effect: Extract<FaultOrder, { on: 'request' }>['effect'], more: object = {}): FaultOrder => ({
  on: 'request',
  method: 'POST',
  times: 0,
  effect,
  ...more,
})
const operation = (effect: Extract<FaultOrder, { on: 'operation' }>['effect'], more: object = {}): FaultOrder => ({
  on: 'operation',
  action: 'apply_config',
  times: 0,
  effect,
  ...more,
})

/** Removes line breaks, which depend on the width. */
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

const LOOKING = 'checking whether the request took effect, because its response was lost: '
const NEXT = 'Next: fix the cause of each failure, then run `espalier apply` again. It continues where it stopped.'
const FIND_OUT =
  'Next: find out why operations failed in project quiet-river-12345678: run `espalier operations list --project quiet-river-12345678`.'
const ALL_DONE = 'Apply complete: 3 done.'
const ONE_FAILED = 'Apply incomplete: 2 done, 1 failed.'
const CREATE = 'failed create replica "reader" on main'
const UPDATE = 'failed update primary on main (ep-br-main)'
const AT = '(POST /projects/quiet-river-12345678/endpoints'

describe('a temporary fault', () => {
  const rows: readonly (readonly [string, readonly FaultOrder[], readonly string[]])[] = [
    ['latency and jitter', [request({ kind: 'latency', ms: 3_000, jitterMs: 500 })], []],
    ['suspend-on-delete', [request({ kind: 'suspend-on-delete' }, { method: 'DELETE' })], []],
    ['reset-before', [request({ kind: 'reset-before' }, { times: 1 })], [LOOKING, 'did not respond: ', AT]],
    ['reset-after', [request({ kind: 'reset-after' })], [LOOKING, 'did not respond: ', AT]],
    ['truncate', [request({ kind: 'truncate' })], [LOOKING, 'it is not JSON', 'status 201']],
    ['malformed', [request({ kind: 'malformed' })], [LOOKING, 'it is not JSON', 'status 201']],
    [
      'html',
      [request({ kind: 'html' }, { times: 1 })],
      [LOOKING, 'The control API failed: no reason given', 'status 524'],
    ],
    [
      'status 500',
      [request({ kind: 'status', status: 500 }, { times: 1 })],
      [LOOKING, 'failed: injected fault', 'status 500'],
    ],
    [
      'status 503',
      [request({ kind: 'status', status: 503 }, { times: 1 })],
      ['waited 0.3 s: the control API is unavailable'],
    ],
    [
      'status 429 with Retry-After',
      [request({ kind: 'status', status: 429, retryAfter: 7 }, { times: 1 })],
      ["waited 7 s: the control API's rate limit is reached"],
    ],
    [
      'status 429 without Retry-After',
      [request({ kind: 'status', status: 429 }, { times: 1 })],
      ["waited 0.3 s: the control API's rate limit is reached"],
    ],
    [
      'lock',
      [request({ kind: 'lock' }, { times: 1 })],
      ['waited 0.3 s: the project is locked, but the API lists no running operation: project already has'],
    ],
    [
      'rival-update, and names the operation of the other client',
      [
        request(
          { kind: 'rival-update', endpoint_id: 'ep-br-staging', endpoint: { autoscaling_limit_max_cu: 2 } },
          { times: 1 },
        ),
      ],
      ['the project is locked by operation ', '(apply_config on ep-br-staging, running)'],
    ],
    ['rival-delete of a compute that the plan deletes', [request({ kind: 'rival-delete' }, { method: 'DELETE' })], []],
    [
      'lag combined with a lost response',
      [request({ kind: 'reset-after' }), request({ kind: 'lag', ms: 20_000 }, { method: 'GET' })],
      [`waited 30 s: ${LOOKING}`],
    ],
    [
      'operations that fail and then succeed',
      [operation({ kind: 'fail' }, { times: 2 })],
      ['apply_config finished, 2 failures'],
    ],
    ['restart', [operation({ kind: 'restart' })], []],
    ['live', [operation({ kind: 'live' })], []],
    ['skip', [operation({ kind: 'skip' })], ['apply_config skipped']],
    ['slow', [operation({ kind: 'slow', ms: 20_000 })], ['done update primary on main (ep-br-main) 23 s']],
  ]

  // promise: rival-delete, temporary-fault
  test.each(part(rows, 4))('completes all steps despite %s', async (_name, faults, phrases) => {
    const text = flat(await outputWith(...faults))
    for (const phrase of [...phrases, ALL_DONE]) expect(text).toContain(phrase)
  })
})

// promise: permanent-fault, failures-explained
describe('a permanent failure', () => {
  test.each<readonly [string, readonly FaultOrder[], readonly string[]]>([
    [
      'reset-before',
      [request({ kind: 'reset-before' })],
      [
        `${CREATE} (apply-failed): The control API did not respond: `,
        'The request was sent 4 times, and the project does not show its effect.',
        'Check the network, the base URL and any proxy, then try again.',
      ],
    ],
    [
      'html',
      [request({ kind: 'html' })],
      [
        `${CREATE} (apply-failed): The control API failed: no reason given ${AT}, status 524).`,
        'The request was sent 4 times, and the project does not show its effect.',
        'The service returned an internal error: try again.',
      ],
    ],
    [
      'status 503',
      [request({ kind: 'status', status: 503 })],
      [
        'waited 1 min 56 s: the control API is unavailable',
        `${CREATE} (apply-failed): The control API failed: injected fault`,
        'Nothing was changed by this step. Gave up after 1m56s: waiting another 6s would exceed the 2m limit for outages.',
      ],
    ],
    [
      'status 429',
      [request({ kind: 'status', status: 429 })],
      [
        `${CREATE} (rate-limited): The control API rejected the request: injected fault`,
        'would exceed the 2m limit for rate limiting. Try again later.',
      ],
    ],
    [
      'status 423',
      [request({ kind: 'lock' })],
      [
        `${CREATE} (project-busy): The control API rejected the request: project already has running conflicting operations`,
        'Gave up after 1m: waiting another 6s would exceed the 1m limit of --timeout. Try again later.',
      ],
    ],
    [
      'status 422',
      [request({ kind: 'status', status: 422, message: 'over the plan' })],
      [
        `${CREATE} (apply-failed): The control API rejected the request: over the plan`,
        "Nothing was changed by this step. The service refuses the value, perhaps because of the account's plan. Its message is above.",
      ],
    ],
    [
      'status 401',
      [request({ kind: 'status', status: 401, message: 'no' })],
      [
        `${CREATE} (auth): The control API does not accept the API key: no`,
        'Nothing was changed by this step. The key is wrong or revoked: check ESPALIER_API_KEY, NEON_API_KEY or --api-key-file.',
      ],
    ],
    [
      'ignore',
      [request({ kind: 'ignore' }, { method: 'PATCH' })],
      [
        `${UPDATE} (not-effective): The control API accepted the request, but the change did not take effect: size: before 1 CU, requested 2 CU, got 1 CU.`,
        "The account's plan may not allow it.",
      ],
    ],
    [
      'error',
      [operation({ kind: 'error', message: 'no host had room' })],
      [
        `${UPDATE} (operation-failed): Operation `,
        '(apply_config) ended as error: no host had room. Its change may not be in effect, even if the next plan shows no difference.',
      ],
    ],
    [
      'cancel',
      [operation({ kind: 'cancel' })],
      [
        '(apply_config) ended as cancelled. Its change may not be in effect, even if the next plan shows no difference.',
      ],
    ],
  ])('reports the cause and the next command for %s', async (_name, faults, phrases) => {
    const text = flat(await outputWith(...faults))
    const next = text.includes('(operation-failed)') ? FIND_OUT : NEXT
    for (const phrase of [...phrases, ONE_FAILED, next]) expect(text).toContain(phrase)
  })

  test('reports both the step whose operation hangs and the step that waits for its lock', async () => {
    const text = flat(await outputWith(operation({ kind: 'hang' })))
    expect(text).toContain(`${UPDATE} (operation-timeout): Still not done after 60 s: operation `)
    expect(text).toMatch(/the project is locked by operation \S+ \(apply_config on ep-br-main, running\)/)
    expect(text).toContain('failed delete replica "unasked" on staging (ep-br-staging-0) (project-busy)')
    expect(text).toContain('Apply incomplete: 1 done, 2 failed.')
    // The next plan may show no difference, although the operation has not ended.
    expect(text).toContain(NEXT.replace(' It continues where it stopped.', ''))
    expect(text).not.toContain('It continues where it stopped.')
  })

  // promise: rival-delete
  test('reports that another client deleted a compute that the plan updates', async () => {
    const text = flat(await outputWith(request({ kind: 'rival-delete' }, { method: 'PATCH' })))
    expect(text).toContain(
      'stale update primary on main (ep-br-main) (changed-meanwhile): ep-br-main has changed since the plan was made: it was deleted.',
    )
    expect(text).toContain('Nothing was changed by this step. Next: run `espalier plan` to review the project')
    expect(text).toContain('Apply incomplete: 2 done, 1 stale.')
  })

  // promise: rival-create
  test('reports a compute that another client created during the apply', async () => {
    const endpoint = { branch_id: 'br-main', type: 'read_only', name: 'rival' } as const
    const text = flat(await outputWith(request({ kind: 'rival-create', endpoint }, { times: 1 })))
    expect(text).toContain(
      'The project does not match the manifests yet (not-converged): delete replica "rival" on main (ep-',
    )
    expect(text).toContain('Apply incomplete: 3 done.')
  })
})

test('these tests inject every kind of fault that the sandbox supports', async () => {
  const text = await readFile(fileURLToPath(import.meta.url), 'utf8')
  const missing = faultKinds().filter((kind) => !text.includes(`kind: '${kind}'`))
  expect(missing).toEqual([])
})
