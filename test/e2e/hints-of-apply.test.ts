/** Follows the hints of an apply that did not do everything. See scripts/hints.ts. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { FaultOrder, Seed } from '../../src/sandbox/index.ts'
import type { Running } from '../in-process.ts'
import { liveComputes, onOperation, printed, type Stage, stage } from './stage.ts'

const main = { id: 'ep-main', size: 1, scaleToZero: 'never' } as const
const SEED: Seed = {
  projects: [
    {
      id: 'shop',
      branches: [
        { id: 'br-main', name: 'main', computes: [main] },
        { id: 'br-dev', name: 'dev', computes: [{ ...main, id: 'ep-dev' }] },
      ],
    },
  ],
}
const LARGER = 'branches: { main: { primary: { size: 2 } }, dev: { primary: { size: 2 } } }'
const MAIN = 'branches: { main: { primary: { size: 2 } } }'
const REPLICA = 'branches: { main: { replicas: { bi: { size: 1 } } } }'

type RequestFault = Extract<FaultOrder, { on: 'request' }>
const onRequest = (method: string, effect: RequestFault['effect']): RequestFault => ({ on: 'request', method, effect })
const APPLY = ['apply', '--auto-approve'] as const
const COMPLETE = 'Apply complete: 1 done.'

const expectNoChanges = async (shop: Stage): Promise<void> =>
  expect((await shop.run('plan')).text).toContain('No changes.')

/** Starts an apply, and interrupts it when its first change has been made, whose operation then runs for a second. */
const interruptedAfter = async (method: string, manifest: string): Promise<{ shop: Stage; running: Running }> => {
  let running: Running | undefined
  let isDue = true
  const onSent = (sent: string): void => {
    if (sent !== method || !isDue) return
    isDue = false
    running?.interrupt()
  }
  const shop = await stage(manifest, SEED, { timeScale: 100, onRequest: onSent })
  shop.sandbox.control.addFault({ on: 'operation', effect: { kind: 'slow', ms: 100_000 } })
  running = shop.start(...APPLY)
  return { shop, running }
}

describe('an apply that is interrupted', () => {
  // hint: Interrupted before it started: run `espalier apply` again.
  // hint: Next: to continue, run `espalier apply` again.
  test('once is continued by the suggested command', async () => {
    const { shop, running } = await interruptedAfter('PATCH', LARGER)
    const ended = printed(await running.ended)
    expect(ended).toMatchObject({ code: 130 })
    expect(ended.text).toContain('Apply incomplete: 1 done, 1 skipped.')
    expect(ended.text).toContain('Interrupted before it started: run `espalier apply` again.')
    expect((await shop.follow(ended, 'Next: to continue, run `', '--auto-approve')).text).toContain(COMPLETE)
    await expectNoChanges(shop)
  })

  // hint: Interrupted while it was running. To continue, run `espalier apply` again.
  test('twice is continued from the running step', async () => {
    const { shop, running } = await interruptedAfter('POST', REPLICA)
    await running.says('Stopping: ')
    running.interrupt()
    const ended = printed(await running.ended)
    await shop.follow(ended, 'Interrupted while it was running. To continue, run `', '--auto-approve')
    expect(await liveComputes(shop)).toHaveLength(3)
    await expectNoChanges(shop)
  })
})

// hint: The run was cut off before it ended. Run `espalier apply` again.
test.runIf(existsSync('/dev/full'))('a run that cannot write its journal is repeated', async () => {
  const shop = await stage(MAIN, SEED)
  await shop.run(...APPLY, '--journal', '/dev/full', '--html', 'apply.html')
  const page = await readFile(join(shop.folder, 'apply.html'), 'utf8')
  expect(page).toContain('The run was cut off before it ended.')
  expect((await shop.run(...APPLY)).text).toContain(COMPLETE)
})

describe('a project that changes during the apply', () => {
  // hint: The live project conflicts with this change: run `espalier plan` again to see its current state.
  // hint: The compute, or something the change refers to, no longer exists: run `espalier plan`
  test.each([
    [409, 'conflicts with this change: run `'],
    [404, 'no longer exists: run `'],
  ])('is planned again after the status %i', async (status, words) => {
    const shop = await stage(MAIN, SEED)
    shop.sandbox.control.addFault(onRequest('PATCH', { kind: 'status', status }))
    const applied = await shop.run(...APPLY)
    expect((await shop.follow(applied, words)).text).toContain('1 to update')
    expect((await shop.run(...APPLY)).text).toContain(COMPLETE)
  })

  // hint: Next: run `espalier plan` to review the project as it is now, then apply again.
  test('is reviewed again if a step is stale', async () => {
    const shop = await stage(MAIN, SEED)
    shop.sandbox.control.addFault({
      ...onRequest('GET', {
        kind: 'rival-update',
        endpoint_id: 'ep-main',
        endpoint: { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 4 },
      }),
      path: '/projects/shop/endpoints/ep-main',
    })
    const applied = await shop.run(...APPLY)
    expect((await shop.follow(applied, 'Next: run `')).text).toContain('size 4 → 2 CU')
    expect((await shop.run(...APPLY)).text).toContain(COMPLETE)
  })
})

// hint: Neither was deleted. If …, the newer one, is not in use, run `espalier compute delete … --project …`
// hint: No flag overrides this. Remove the protection, run the command again, and restore the protection.
test('of two computes that were created at once, the newer one is deleted, on a protected branch while the protection is removed', async () => {
  const guarded = 'branches: { main: { protect: true, replicas: { bi: { size: 1 } } } }'
  const shop = await stage(guarded, SEED)
  // A disabled compute starts no operation, so the project is not locked.
  shop.sandbox.control.addFault(
    onRequest('POST', {
      kind: 'rival-create',
      endpoint: { branch_id: 'br-main', type: 'read_only', name: 'bi', disabled: true },
    }),
  )
  const applied = await shop.run(...APPLY)
  expect(await liveComputes(shop)).toHaveLength(4)
  expect(applied.text).toContain('On a protected branch, remove the protection first.')
  const refused = await shop.follow(applied, 'is not in use, run `', '--auto-approve')
  expect(refused.code).toBe(1)
  expect(refused.text).toContain('`protect: true` at espalier.yaml:3')
  await shop.declare(REPLICA)
  expect((await shop.follow(applied, 'is not in use, run `', '--auto-approve')).code).toBe(0)
  await shop.declare(guarded)
  expect((await shop.run(...APPLY)).code).toBe(0)
  expect(await liveComputes(shop)).toHaveLength(3)
  await expectNoChanges(shop)
})

describe('a change that does not take effect', () => {
  // hint: It may still finish: run `espalier apply` again later, or raise --timeout.
  test('in time is waited for by the next apply', async () => {
    const shop = await stage(MAIN, SEED)
    shop.sandbox.control.addFault(onOperation({ kind: 'slow', ms: 200_000 }))
    const applied = await shop.run(...APPLY, '--timeout', '1s')
    expect(applied.text).toContain('Still not done after 1 s: ')
    const again = await shop.follow(applied, 'It may still finish: run `', '--auto-approve')
    expect(again.code, again.text).toBe(0)
    await expectNoChanges(shop)
  })
})

// hint: To keep waiting, run `espalier operations wait … --project …`.
test('a compute command that times out names the command that waits, and not an apply or a second restart', async () => {
  const shop = await stage(MAIN, SEED)
  shop.sandbox.control.addFault({ on: 'operation', effect: { kind: 'slow', ms: 200_000 } })
  const restarted = await shop.run('compute', 'restart', 'main', '--yes', '--timeout', '1s')
  expect(restarted.code).toBe(1)
  expect(restarted.text).toContain('E_TIMEOUT Still not done after 1 s: ')
  expect(restarted.text).not.toContain('espalier apply')
  const waited = await shop.follow(restarted, 'To keep waiting, run `')
  expect(waited.code, waited.text).toBe(0)
})

// hint: Next: to see the remaining changes, run `espalier plan`.
test('a change that someone else made during the apply is shown by the suggested plan', async () => {
  const shop = await stage(`${MAIN}\nprune: true`, SEED)
  shop.sandbox.control.addFault(
    onRequest('PATCH', { kind: 'rival-create', endpoint: { branch_id: 'br-main', type: 'read_only', disabled: true } }),
  )
  const applied = await shop.run(...APPLY)
  expect((await shop.follow(applied, 'Next: to see the remaining changes, run `')).text).toContain('1 to delete')
  expect(await liveComputes(shop)).toHaveLength(3)
})

describe('an apply that leaves a branch without its primary', () => {
  // hint: To give it one, …run `espalier apply --project ……`.
  test('moves one to it when it is repeated', async () => {
    const moved = 'branches: { main: { primary: { id: ep-dev } }, dev: {} }\nprune: true'
    const shop = await stage(moved, SEED)
    shop.sandbox.control.addFault(onRequest('PATCH', { kind: 'status', status: 422 }))
    const applied = await shop.run(...APPLY, '--allow', 'move,delete')
    expect(applied.text).toContain('has no primary now')
    await shop.follow(applied, 'fix the cause of the failure and run `', '--auto-approve')
    await expectNoChanges(shop)
  })
})

describe('an apply that replaces a pinned compute', () => {
  const pinned = 'branches: { main: { primary: {} , replicas: { bi: { id: ep-dev } } } }'

  // hint: … was replaced: change its pin… to `id: …`, or remove the pin.
  test('names the new pin', async () => {
    const shop = await stage(pinned, SEED)
    const applied = await shop.run(...APPLY, '--allow', 'replace')
    const [, id = ''] =
      /ep-dev was replaced: change its pin at \S+ to `id: (\S+)`, or remove the pin\./.exec(applied.text) ?? []
    await shop.declare(pinned.replace('ep-dev', id))
    await expectNoChanges(shop)
    await shop.declare(pinned.replace('id: ep-dev', ''))
    await expectNoChanges(shop)
  })

  // hint: … is deleted, but its successor was not created: remove its pin… and run `espalier apply` again.
  test('creates the successor when it is repeated without the pin', async () => {
    const shop = await stage(pinned, SEED)
    shop.sandbox.control.addFault(onRequest('POST', { kind: 'status', status: 422 }))
    const applied = await shop.run(...APPLY, '--allow', 'replace')
    await shop.declare(pinned.replace('id: ep-dev', ''))
    await shop.follow(applied, 'remove its pin at espalier.yaml:3 and run `', '--auto-approve')
    await expectNoChanges(shop)
  })
})
