/** `compute start|suspend|restart|delete`: the announcement, the prompt and the wait. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WEEKDAYS } from '../../src/model/index.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { espalier } from './espalier.ts'
import { environmentOf } from './real-computes.ts'
import { stage } from './stage.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox({
    timeScale: 100,
    seed: {
      projects: [
        {
          id: 'shop',
          branches: [
            {
              name: 'main',
              computes: [
                { id: 'ep-main', scaleToZero: 'never' },
                { id: 'ep-r', type: 'read_only', name: 'reporting', scaleToZero: 'never' },
              ],
            },
            { name: 'sleepy', computes: [{ id: 'ep-sleepy', state: 'idle', scaleToZero: 'never' }] },
            { name: 'off', computes: [{ id: 'ep-off', disabled: true }] },
            { name: 'guarded', protected: true, computes: [{ id: 'ep-guarded', scaleToZero: 'never' }] },
          ],
        },
      ],
    },
  })
})
afterAll(() => sandbox.close())

const run = (...args: readonly string[]) => espalier(['compute', ...args, '--project', 'shop'], environmentOf(sandbox))
/** Runs in a folder with this manifest, without `--project`. */
const runBeside = async (branches: string, ...args: readonly string[]) => {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-compute-'))
  await writeFile(join(folder, 'espalier.yaml'), `version: 1\nproject: shop\nbranches: ${branches}\n`)
  return espalier(['compute', ...args], environmentOf(sandbox), folder)
}
const stateOf = async (id: string) => (await sandbox.control.computes()).find((compute) => compute.id === id)?.state

test('compute start wakes a compute without ending connections, and does nothing if it is active', async () => {
  const { code, stdout } = await run('start', 'sleepy')
  expect(code).toBe(0)
  expect(stdout.split('\n')[0]).toBe('Will start primary on sleepy (ep-sleepy) in shop: no one is interrupted.')
  expect(stdout).toContain('start_compute  finished')
  expect(await stateOf('ep-sleepy')).toBe('active')
  expect((await run('start', 'sleepy')).stdout).toBe(
    'Nothing to do: primary on sleepy (ep-sleepy) in shop is already active.\n',
  )
})

test('a compute that is named twice is changed once', async () => {
  const { code, stdout } = await run('restart', 'main', 'ep-main', '--auto-approve')
  expect(code).toBe(0)
  expect(stdout.match(/^Will restart/gm)).toHaveLength(1)
})

test('compute suspend, restart and delete change nothing without confirmation', async () => {
  for (const command of ['suspend', 'restart', 'delete']) {
    const { code, stdout, stderr } = await run(command, 'main')
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('--auto-approve') })
    expect(stdout).toMatch(/existing connections|hostname is lost/)
  }
  expect(await stateOf('ep-main')).toBe('active')
})

test('compute restart and suspend wait for their operations, one compute after another', async () => {
  const connection = await sandbox.control.connect('ep-r')
  const restarted = await run('restart', 'main', 'main/reporting', '--yes')
  expect(restarted.code, restarted.stderr).toBe(0)
  expect(restarted.stdout.match(/^done {2}restart/gm)).toHaveLength(2)
  expect(sandbox.control.connections().find(({ id }) => id === connection.id)).toHaveProperty('closedAt')
  expect((await run('suspend', 'ep-r', '--yes')).code).toBe(0)
  expect(await stateOf('ep-r')).toBe('idle')
  expect((await run('suspend', 'ep-r', '--yes')).stdout).toContain(
    'Nothing to do: replica "reporting" on main (ep-r) in shop is already idle.',
  )
})

test('compute delete deletes a compute, but not one on a protected branch', async () => {
  const deleted = await run('delete', 'sleepy', '--yes')
  expect(deleted.code).toBe(0)
  expect(deleted.stdout).toMatch(/^done {2}delete primary on sleepy \(ep-sleepy\)$/m)
  expect(await stateOf('ep-sleepy')).toBeUndefined()
  const { code, stderr } = await run('delete', 'guarded', '--yes')
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the service protects branch `guarded`'),
  })
  expect(await stateOf('ep-guarded')).toBe('active')
})

test.each([
  [['start', 'off'], 'is disabled and cannot be started'],
  [['start', 'mian'], 'Did you mean main?'],
  [['start', 'main/nothing'], 'There is no compute main/nothing'],
])('espalier compute %j fails with the message: %s', async (args, message) => {
  const { code, stderr } = await run(...args)
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(message) })
  expect(stderr).not.toMatch(/\n\s+at /)
})

test("a failed operation is reported with the service's message", async () => {
  sandbox.control.addFault({ on: 'operation', effect: { kind: 'error', message: 'no host had room' } })
  const { code, stderr } = await run('restart', 'guarded', '--yes')
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('no host had room') })
})

// promise: approval
test('no flag of compute delete overrides `protect: true` in a manifest in the current folder', async () => {
  const { code, stderr } = await runBeside('{ main: { protect: true } }', 'delete', 'main', 'off', '--yes', '--now')
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /primary on main \(ep-main\) cannot be deleted: .*`protect: true` at espalier.yaml:3/,
    ),
  })
  // The whole command is rejected, so the other compute stays too.
  expect([await stateOf('ep-main'), await stateOf('ep-off')]).toEqual(['active', expect.any(String)])
})

test('outside the restart window, compute restart, suspend and delete exit with 5, and --now allows a restart', async () => {
  const far = WEEKDAYS[(new Date().getUTCDay() + 2) % 7]
  const window = `{ days: [${far}], from: "02:00", to: "04:00", timezone: UTC }`
  const branches = `{ main: { primary: { restartWindow: ${window} } } }`
  for (const command of ['restart', 'suspend', 'delete']) {
    const { code, stdout, stderr } = await runBeside(branches, command, 'main', '--yes')
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' })
    expect(stderr).toMatch(/may be interrupted only in its restart window: \w+ 02:00–04:00 UTC, which opens /)
  }
  const { code, stdout } = await runBeside(branches, 'restart', 'main', '--yes', '--now')
  expect(code).toBe(0)
  expect(stdout.split('\n')[0]).toBe(
    'Will restart primary on main (ep-main) in shop: existing connections drop; its restart window is closed, but --now overrides it.',
  )
})

test('if a restart window closes after the first compute was restarted, the message says so', async () => {
  const { sandbox, start, declare } = await stage('branches: {}')
  const path = '/projects/shop/endpoints/ep-staging/restart'
  sandbox.control.addFault({ on: 'request', path, effect: { kind: 'lock' }, times: 5 })
  const running = start('compute', 'restart', 'main', 'staging', '--auto-approve')
  await running.says('waiting: ')
  const far = WEEKDAYS[(new Date().getUTCDay() + 2) % 7]
  await declare(
    `branches: { staging: { primary: { restartWindow: { days: [${far}], from: "02:00", to: "04:00", timezone: UTC } } } }`,
  )
  const { code, stdout, stderr } = await running.ended
  expect({ code, stdout }).toEqual({ code: 5, stdout: expect.stringContaining('done  restart primary on main') })
  expect(stderr).toMatch(/primary on staging .* may be interrupted only in its restart window/)
  expect(stderr).toContain('No further request was sent.')
  expect(stderr).not.toContain('Nothing was changed.')
})

test('with invalid manifests in the current folder, compute delete is rejected', async () => {
  const { code, stderr } = await runBeside('{ main: { protct: true } }', 'delete', 'main', '--yes', '--project', 'shop')
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('E_MANIFESTS  The manifests in the current folder have errors'),
  })
  expect(await stateOf('ep-main')).toBe('active')
})

test.each([
  ['delete', 'main: { protect: true }'],
  ['restart', 'main: { primary: { restartWindow: { days: [sun], from: "03:00", to: "03:01", timezone: UTC } } }'],
] as const)(
  'a branch that is renamed while compute %s waits for a lock is not mistaken for another',
  async (action, main) => {
    const { sandbox, start } = await stage(`branches: { ${main} }`)
    const rename = (id: string, name: string) =>
      fetch(`${sandbox.apiUrl}/projects/shop/branches/${id}`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ branch: { name } }),
      })
    const method = action === 'delete' ? 'DELETE' : 'POST'
    sandbox.control.addFault({ on: 'request', method, effect: { kind: 'lock' }, times: 5 })
    const branches = await fetch(`${sandbox.apiUrl}/projects/shop/branches`, {
      headers: { authorization: `Bearer ${sandbox.apiKey}` },
    }).then((answer) => answer.json() as Promise<{ branches: { id: string; name: string }[] }>)
    const idOf = (name: string): string => branches.branches.find((one) => one.name === name)?.id ?? ''

    const running = start('compute', action, 'staging', '--project', 'shop', '--auto-approve')
    await running.says('waiting: ')
    await rename(idOf('main'), 'old')
    await rename(idOf('staging'), 'main')
    const { code, stderr } = await running.ended
    expect(stderr).toContain(
      'primary on staging (ep-staging) has changed since it was read: branch name staging → main.',
    )
    expect(code).toBe(4)
    expect((await sandbox.control.computes()).find(({ id }) => id === 'ep-staging')?.state).toBe('active')
  },
)
