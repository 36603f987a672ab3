/** Another client swaps the names of two branches during an apply, as a restore does. */
import { expect, test } from 'vitest'
import { CONSENTS } from '../../src/model/index.ts'
import { type DeclaredShape, type LiveBranch, world } from '../planner/world.ts'
import { openStage } from './stage.ts'
import { Trial } from './trial.ts'

const NAMES: Readonly<Record<string, string>> = { main: 'main-old', dev: 'main' }

// promise: renamed-branch
test.each<readonly [string, string, LiveBranch, Readonly<Record<string, DeclaredShape>>]>([
  ['delete', 'DELETE', { primary: {} }, { dev: { primary: 'absent' } }],
  ['move', 'PATCH', { primary: {} }, { spare: { primary: { id: 'ep-br-dev' } } }],
  ['replace', 'DELETE', { replicas: [{ id: 'ep-r' }] }, { dev: { primary: { id: 'ep-r' } } }],
  ['disable', 'PATCH', { primary: {} }, { dev: { primary: { disabled: true } } }],
])('it does not %s a compute of a branch that has another name now', async (_kind, write, dev, branches) => {
  const handled: string[] = []
  let swapAfter = Number.POSITIVE_INFINITY
  const stage = await openStage({
    onHandled: (method, _path, status) => {
      handled.push(`${method} ${status}`)
      if (handled.length === swapAfter) swap()
    },
  })
  const { control } = stage.sandbox
  const swap = (): void =>
    control.load({
      version: 1,
      changes: control.dump().changes.map((change) => {
        if (!('put' in change) || change.put.kind !== 'branch') return change
        return { ...change, put: { ...change.put, name: NAMES[change.put.name] ?? change.put.name } }
      }),
    })
  const live = world({ main: { primary: {} }, dev, spare: {} })
  const manifest = { branches: { main: { protect: true, primary: {} }, ...branches } }
  const locked = { on: 'request', method: write, effect: { kind: 'lock' } } as const
  const apply = async (requests: number) => {
    const trial = new Trial(stage, live, manifest)
    handled.splice(0)
    swapAfter = requests
    const { outcome } = await trial.apply({ faults: [locked], interruption: undefined, allow: CONSENTS })
    return outcome?.steps[0]
  }

  expect(await apply(Number.POSITIVE_INFINITY)).toMatchObject({ status: 'done' })
  const last = handled.indexOf(`${write} 200`)
  // The first three requests read the project for the plan.
  for (let requests = 4; requests < last; requests += 1) {
    expect(await apply(requests), `after request ${requests} of ${last}`).toMatchObject({
      status: 'stale',
      message: expect.stringContaining('branch name dev → main'),
    })
    expect(handled).not.toContain(`${write} 200`)
  }
  await stage.sandbox.close()
})
