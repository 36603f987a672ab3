/** Two applies of different manifests, started together on one project. */
import { expect, test } from 'vitest'
import { applyPlan } from '../../src/apply/index.ts'
import { CONSENTS, exitCodeOf, type Outcome } from '../../src/model/index.ts'
import { worldOf } from '../../src/sandbox/index.ts'
import { planLive } from '../../src/workflow/index.ts'
import { type DeclaredDocument, type LiveBranch, PROJECT, world } from '../planner/world.ts'
import { manifestsOf, openStage } from './stage.ts'

const LIVE: Readonly<Record<string, LiveBranch>> = {
  main: { primary: { size: 1 }, replicas: [{ name: 'reader', size: 1 }] },
  staging: { primary: { size: 1, state: 'idle' } },
  empty: {},
}

/** Both make their plan before either sends a change. */
const together = async (...manifests: readonly DeclaredDocument[]) => {
  const stage = await openStage()
  const { sandbox, clock } = stage
  sandbox.control.load(worldOf(world(LIVE), clock.now()))
  const api = stage.connect()
  const planned = await stage.during(
    Promise.all(
      manifests.map(async (declared) => {
        const own = manifestsOf(declared)
        const { result, observed } = await planLive(api, own, { concurrency: 8, readsOperations: false })
        if (!result.ok) throw new Error('no plan')
        return { plan: result.plan, observed, own }
      }),
    ),
  )
  sandbox.control.clearRequests()
  const outcomes = await stage.during(
    Promise.all(
      planned.map(({ plan, observed, own }) =>
        applyPlan({
          plan,
          observed,
          api,
          clock,
          consent: { allow: new Set(CONSENTS) },
          onEvent: () => stage.busy(),
          replan: async (pinAliases, read) =>
            (await planLive(api, own, { concurrency: 8, readsOperations: false, pinAliases, read })).result,
        }),
      ),
    ),
  )
  const changes = sandbox.control.requests().filter(({ method, status }) => method !== 'GET' && status < 300)
  const { observed } = await stage.during(planLive(api, manifestsOf({}), { concurrency: 1, readsOperations: false }))
  await api.close()
  await sandbox.close()
  return { outcomes, changes: changes.map(({ method, path }) => `${method} ${path}`), observed }
}

const sized = (size: number): DeclaredDocument => ({
  branches: { main: { primary: { size }, replicas: { reader: { size } } }, staging: { primary: { size } } },
})

/** The status of each step in both applies. */
const pairs = ([one, other]: readonly Outcome[]): readonly string[] =>
  (one?.steps ?? []).map(
    ({ step, status }) => `${status} ${other?.steps.find((theirs) => theirs.step === step)?.status}`,
  )

// promise: two-applies, others-kept
test('if two applies request different sizes, one changes each compute and the other reports the step as stale', async () => {
  const { outcomes, changes } = await together(sized(2), sized(4))
  for (const pair of pairs(outcomes)) expect(['done stale', 'stale done']).toContain(pair)
  const statuses = outcomes.flatMap(({ steps }) => steps.map(({ status }) => status))
  expect(changes.length).toBe(new Set(changes).size)
  expect(changes.length).toBe(statuses.filter((status) => status === 'done').length)
  expect(outcomes.map((one) => exitCodeOf(one))).toContain(3)
  const messages = outcomes.flatMap(({ steps }) =>
    steps.flatMap(({ status, message }) => (status === 'stale' ? message : [])),
  )
  expect(messages[0]).toMatch(
    /has changed since the plan was made: size 1 CU → [24] CU\. Its latest operation is apply_config /,
  )
})

// promise: two-equal-applies
test('if the other create falls between the last read and the request, the newer replica is named for deletion', async () => {
  const stage = await openStage()
  const { sandbox, clock, during, busy } = stage
  sandbox.control.load(worldOf(world({ main: { primary: {} } }), clock.now()))
  // A disabled compute starts no operation, so the project is not locked.
  const endpoint = { branch_id: 'br-main', type: 'read_only', name: 'a', disabled: true } as const
  sandbox.control.addFault({ on: 'request', method: 'POST', effect: { kind: 'rival-create', endpoint } })
  const api = stage.connect()
  const own = manifestsOf({ branches: { main: { replicas: { a: {} } } } })
  const { result, observed } = await during(planLive(api, own, { concurrency: 8, readsOperations: false }))
  if (!result.ok) throw new Error('no plan')
  const consent = { allow: new Set(CONSENTS) }
  const outcome = await during(applyPlan({ plan: result.plan, observed, api, clock, consent, onEvent: () => busy() }))
  const replicas = (await during(api.listComputes(PROJECT))).filter(({ type }) => type === 'read_only')
  expect(replicas.map(({ attributes }) => attributes.name)).toEqual(['a', 'a'])
  const newer = replicas
    .map(({ id }) => id)
    .find((id) => outcome.steps[0]?.message?.includes(`delete ${id} --project ${PROJECT}`))
  expect(newer).toBeDefined()
  expect(exitCodeOf(outcome)).toBe(3)
  await api.close()
  await sandbox.close()
})

// promise: two-equal-applies
test('if two applies use the same manifest, every change is made once and both succeed', async () => {
  const both: DeclaredDocument = {
    branches: {
      ...sized(2).branches,
      empty: { primary: { size: 1 }, replicas: { bi: { size: 1 }, etl: { size: 1 } } },
    },
    prune: true,
  }
  const { outcomes, changes } = await together(both, both)
  expect(outcomes.flatMap(({ steps }) => steps.filter(({ status }) => status !== 'done'))).toEqual([])
  expect(outcomes.map((one) => exitCodeOf(one))).toEqual([0, 0])
  // Three updates and three creates.
  expect(changes).toHaveLength(6)
})
