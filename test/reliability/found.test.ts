/** What random applies have found, each as small as it got. */
import { expect, test } from 'vitest'
import { CONSENTS } from '../../src/model/index.ts'
import type { FaultOrder } from '../../src/sandbox/index.ts'
import { type DeclaredDocument, type LiveBranch, world } from '../planner/world.ts'
import { openStage } from './stage.ts'
import { Trial } from './trial.ts'

interface Case {
  readonly live: Readonly<Record<string, LiveBranch>>
  readonly manifest: DeclaredDocument
  readonly faults: readonly FaultOrder[]
}

const lost = (method: string): FaultOrder => ({ on: 'request', method, effect: { kind: 'reset-after' } })
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
])('%s', async (_name, { live, manifest, faults }) => {
  const stage = await openStage()
  const trial = new Trial(stage, world(live), manifest)
  const { outcome } = await trial.apply({ faults, interruption: undefined, allow: CONSENTS })
  expect(outcome?.steps.map(({ status }) => status)).toEqual(['done'])
  await trial.recover()
  expect(trial.wrong).toEqual([])
  await stage.sandbox.close()
})
