/** Failures that the model-based test has found, in their smallest form. */
import { expect, test } from 'vitest'
import { CONSENTS } from '../../src/model/index.ts'
import type { FaultOrder } from '../../src/sandbox/index.ts'
import { type DeclaredDocument, type LiveBranch, world } from '../planner/world.ts'
import { openStage } from './stage.ts'
import { RIVALS_SUSPEND_TIMEOUT, Trial } from './trial.ts'

interface Case {
  readonly live: Readonly<Record<string, LiveBranch>>
  readonly manifest: DeclaredDocument
  readonly faults: readonly FaultOrder[]
  /** The status of the only step. */
  readonly status?: string
}

const lost = (method: string): FaultOrder => ({ on: 'request', method, effect: { kind: 'reset-after' } })
const rival = (effect: Extract<FaultOrder, { on: 'request' }>['effect']): FaultOrder => ({
  on: 'request',
  method: effect.kind === 'rival-create' ? 'POST' : 'PATCH',
  effect,
})
const lag = (list: string, ms: number): FaultOrder => ({
  on: 'request',
  method: 'GET',
  path: `/projects/*/${list}`,
  effect: { kind: 'lag', ms },
  times: 0,
})

// promise: lagging-list, rival-update, lagging-after-apply
test.each<readonly [string, Case]>([
  [
    'a create is not repeated if its response is lost and the list of computes lags by 20 s',
    {
      live: { main: { primary: {} } },
      manifest: { branches: { main: { replicas: { a: {} } } } },
      faults: [lost('POST'), lag('endpoints', 20_000)],
    },
  ],
  [
    'an update whose response is lost waits for its operation even if the list of operations lags',
    {
      live: { main: { primary: { size: 1 } } },
      manifest: { branches: { main: { primary: { size: 2 } } } },
      faults: [lost('PATCH'), lag('operations', 1_001)],
    },
  ],
  [
    'a lagging list of computes after a successful apply is not reported as a difference',
    {
      live: { main: { primary: { size: 1 } }, old: { primary: {} } },
      manifest: { branches: { main: { replicas: { a: {} } } } },
      faults: [lag('endpoints', 20_000)],
    },
  ],
  [
    'an update that waits for a lock does not overwrite a size that another client has set in the meantime',
    {
      live: { main: { primary: { size: 1 } } },
      manifest: { branches: { main: { primary: { size: 4 } } } },
      faults: [rival({ kind: 'rival-update', endpoint: { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 } })],
      status: 'stale',
    },
  ],
  [
    'a create that waits for a lock does not create a replica that another client has created in the meantime',
    {
      live: { main: { primary: {} } },
      manifest: { branches: { main: { replicas: { a: {} } } } },
      faults: [
        rival({
          kind: 'rival-create',
          endpoint: {
            branch_id: 'br-main',
            type: 'read_only',
            name: 'a',
            suspend_timeout_seconds: RIVALS_SUSPEND_TIMEOUT,
          },
        }),
      ],
    },
  ],
  [
    'a compute is created with preloaded libraries and without Postgres settings',
    {
      live: { main: { primary: {} } },
      manifest: { branches: { main: { replicas: { a: { preload: ['pg_cron'] } } } } },
      faults: [],
    },
  ],
  ...(['active', 'idle'] as const).map((state): readonly [string, Case] => [
    `a change of settings whose response is lost fails if its operation fails on an ${state} compute and is listed late`,
    {
      live: { main: { primary: { state } } },
      manifest: { branches: { main: { primary: { settings: { work_mem: '64MB' } } } } },
      faults: [
        lost('PATCH'),
        lag('operations', 8_001),
        { on: 'operation', effect: { kind: 'fail', message: 'no host had room' }, times: 3 },
      ],
      status: 'failed',
    },
  ]),
])('%s', async (_name, { live, manifest, faults, status = 'done' }) => {
  const stage = await openStage({ onHandled: (method, path) => trial.watch(method, path) })
  const trial = new Trial(stage, world(live), manifest)
  const { outcome } = await trial.apply({ faults, interruption: undefined, allow: CONSENTS })
  expect(outcome?.converged).toBe(status === 'done' ? true : undefined)
  expect(outcome?.steps.map(({ status }) => status)).toEqual([status])
  await trial.recover()
  expect(trial.wrong).toEqual([])
  await stage.sandbox.close()
})
