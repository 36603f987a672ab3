/** What random applies have found, each as small as it got. */
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
  /** Of the one step. */
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

test.each<readonly [string, Case]>([
  [
    'a create whose answer is lost, and a list of computes that lags by more than seven seconds: not made twice',
    {
      live: { main: { primary: {} } },
      manifest: { branches: { main: { replicas: { a: {} } } } },
      faults: [lost('POST'), lag('endpoints', 20_000)],
    },
  ],
  [
    'an update whose answer is lost, and a list of operations that lags: not done before its operation is',
    {
      live: { main: { primary: { size: 1 } } },
      manifest: { branches: { main: { primary: { size: 2 } } } },
      faults: [lost('PATCH'), lag('operations', 1_001)],
    },
  ],
  [
    'a list of computes that lags after a complete success: no false alarm',
    {
      live: { main: { primary: { size: 1 } }, old: { primary: {} } },
      manifest: { branches: { main: { replicas: { a: {} } } } },
      faults: [lag('endpoints', 20_000)],
    },
  ],
  [
    'somebody resizes the compute while its update waits for their lock: not overwritten',
    {
      live: { main: { primary: { size: 1 } } },
      manifest: { branches: { main: { primary: { size: 4 } } } },
      faults: [rival({ kind: 'rival-update', endpoint: { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 } })],
      status: 'stale',
    },
  ],
  [
    'somebody makes the same replica while its create waits for their lock: not made twice',
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
