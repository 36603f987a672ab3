/** `status` and `operations` show the live project in the console's terms. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runProgram } from '../../src/cli/program.ts'
import { manualClock, type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { readSnapshot } from '../../src/workflow/index.ts'
import { fakeIo } from '../in-process.ts'
import { espalier, ROOT, start } from './espalier.ts'
import { environmentOf } from './real-computes.ts'

const P = '/projects/shop'
/** Each test that changes something has a project of its own. The compute of `PROJECT` is `ep-PROJECT`. */
const OWN = ['listed', 'refreshed', 'followed', 'outlasting', 'hanging']
let sandbox: Sandbox
let folder: string
beforeAll(async () => {
  sandbox = await startSandbox({
    clock: manualClock(Date.now()),
    seed: {
      projects: [
        {
          id: 'shop',
          branches: [
            {
              id: 'br-main',
              name: 'main',
              computes: [
                { id: 'ep-main', size: { min: 1, max: 4 }, scaleToZero: 'never' },
                {
                  id: 'ep-reporting',
                  type: 'read_only',
                  name: 'reporting',
                  size: 2,
                  state: 'idle',
                  postgres: { settings: { application_name: 'SECRET-VALUE' } },
                },
              ],
            },
            { id: 'br-off', name: 'off', computes: [{ id: 'ep-off', disabled: true }] },
          ],
        },
        { id: 'bare', branches: [{ name: 'main' }] },
        ...OWN.map((id) => ({
          id,
          operations: id === 'listed' ? 2_500 : 0,
          branches: [
            { id: `br-${id}`, name: 'main', computes: [{ id: `ep-${id}`, size: 1, scaleToZero: 'never' as const }] },
            { id: `br-off-${id}`, name: 'off', computes: [{ id: `ep-off-${id}`, disabled: true }] },
          ],
        })),
      ],
    },
  })
  await post('listed', 'restart')
  await sandbox.clock.advance(5_000)
  folder = await mkdtemp(join(tmpdir(), 'espalier-look-'))
  await writeFile(join(folder, 'espalier.yaml'), 'version: 1\nproject: shop\nbranches: { main: { primary: {} } }\n')
})
afterAll(() => sandbox.close())

const run = (...args: readonly string[]) => espalier(args, environmentOf(sandbox), folder)
const post = async (project: string, action: 'restart' | 'suspend') => {
  const answer = await fetch(`${sandbox.apiUrl}/projects/${project}/endpoints/ep-${project}/${action}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.apiKey}` },
  })
  return (await answer.json()) as { operations: readonly { id: string }[] }
}
const lines = (text: string): readonly string[] => text.trimEnd().split('\n')

test('status lists the computes of the manifests and whether they are in sync', async () => {
  const { code, stdout } = await run('status')
  expect(code).toBe(0)
  expect(stdout.replaceAll(/(?<= )\d+[smhd]$/gm, 'AGE')).toMatchInlineSnapshot(`
    "shop  3 computes, 1 active, 2 unmanaged
      BRANCH  COMPUTE            STATE           SIZE     SYNC       ID            LAST ACTIVE
      main    primary            active          1–4 CU   in sync    ep-main       AGE
      main    replica reporting  idle            2 CU     unmanaged  ep-reporting  AGE
      off     primary            idle, disabled  0.25 CU  unmanaged  ep-off        AGE
    "
  `)
  const wide = await run('status', '-o', 'wide')
  expect(wide.stdout).toContain('ep-main.eu-central-1.aws.neon.tech')
  expect((await run('status', '-o', 'name')).stdout).toBe('ep-main\nep-reporting\nep-off\n')
})

test('status shows which computes a plan would change, and declared computes that do not exist', async () => {
  const file = join(folder, 'other.yaml')
  await writeFile(
    file,
    'version: 1\nproject: shop\nbranches: { main: { primary: { size: 2 } }, off: { replicas: { extra: { size: 1 } } } }\n',
  )
  const { stdout } = await run('status', file)
  expect(stdout).toMatch(/^shop +3 computes, 1 active, 1 differs, 2 unmanaged, 1 not live$/m)
  expect(stdout).toMatch(/^ {2}main +primary +active +1–4 CU +differs /m)
  expect(stdout).toContain('  not live: replica "extra" on off')
})

test('status --format json fails for an unknown project after listing the others', async () => {
  const { code, stdout, stderr } = await run('status', '--project', 'shop', '--project', 'nowhere', '--format', 'json')
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no project `nowhere`') })
  const { computes, missing } = JSON.parse(stdout)
  expect(missing).toEqual(['nowhere'])
  expect(computes).toContainEqual(
    expect.objectContaining({
      id: 'ep-reporting',
      branch: 'main',
      type: 'replica',
      name: 'reporting',
      state: 'idle',
      size: { min: 2, max: 2 },
      scaleToZero: 0,
      sync: 'unmanaged',
    }),
  )
})

test('status --format json shows every field of a compute in the API, but no values of settings', async () => {
  const answer = await fetch(`${sandbox.apiUrl}${P}/endpoints/ep-reporting`, {
    headers: { authorization: `Bearer ${sandbox.apiKey}` },
  })
  const { endpoint } = (await answer.json()) as { endpoint: Readonly<Record<string, unknown>> }
  const { stdout } = await run('status', '--format', 'json')
  expect(stdout).not.toContain('SECRET-VALUE')
  const shown = JSON.parse(stdout).computes.find(({ id }: { id: string }) => id === 'ep-reporting')
  expect(shown).toMatchObject({
    id: endpoint.id,
    host: endpoint.host,
    proxyHost: endpoint.proxy_host,
    project: endpoint.project_id,
    branchId: endpoint.branch_id,
    regionId: endpoint.region_id,
    type: 'replica',
    state: endpoint.current_state,
    pendingState: null,
    size: { min: endpoint.autoscaling_limit_min_cu, max: endpoint.autoscaling_limit_max_cu },
    settings: ['pg_settings.application_name'],
    pooler: { enabled: endpoint.pooler_enabled, mode: endpoint.pooler_mode },
    disabled: endpoint.disabled,
    passwordlessAccess: endpoint.passwordless_access,
    creationSource: endpoint.creation_source,
    createdAt: endpoint.created_at,
    updatedAt: endpoint.updated_at,
    lastActive: endpoint.last_active ?? null,
    suspendedAt: endpoint.suspended_at ?? null,
    scaleToZero: endpoint.suspend_timeout_seconds,
    provisioner: endpoint.provisioner,
  })
  for (const name of ['proxyHost', 'regionId', 'updatedAt', 'provisioner'])
    expect(shown[name]).toEqual(expect.any(String))
  const file = join(folder, 'live.json')
  await run('snapshot', '--out', file)
  const computes = (await readSnapshot(file)).projects.flatMap((project) => project.computes)
  expect(computes.find(({ id }) => id === 'ep-reporting')).toMatchObject({
    regionId: endpoint.region_id,
    updatedAt: endpoint.updated_at,
  })
})

test('status --watch refreshes until Ctrl-C and shows what changed', async () => {
  const running = start(['status', '--project', 'refreshed', '--watch'], environmentOf(sandbox), folder)
  await running.says('active')
  await post('refreshed', 'suspend')
  await running.says('active → idle')
  await sandbox.clock.advance(5_000)
  running.interrupt()
  expect((await running.ended).code).toBe(0)
})

test('operations list uses the columns and terms of the console', async () => {
  const { code, stdout } = await run('operations', 'list', '--project', 'listed', '--limit', '3')
  expect(code).toBe(0)
  const [head = '', first = '', ...rest] = lines(stdout)
  expect(head.split(/\s{2,}/)).toEqual([
    '',
    'OPERATION',
    'BRANCH',
    'STATUS',
    'DURATION',
    'AGE',
    'ID',
    'FAILURES',
    'CREATED',
    'COMPUTE',
  ])
  expect(first).toMatch(/^ {2}start_compute +main +OK +0\.\d s +\d+[smhd] +[0-9a-f-]{36} +0 +\d{4}-\S+Z +ep-listed$/)
  expect(rest).toHaveLength(2)
})

test.each([
  [['--action', 'apply_config', '--limit', '7'], 7, /"action":"apply_config"/],
  [['--compute', 'ep-listed', '--limit', '9'], 9, /"endpointId":"ep-listed"/],
  [['--branch', 'main', '--limit', '5'], 5, /"branchId":"br-listed"/],
  [['--branch', 'off'], 0, /never/],
  [['--status', 'ok', '--limit', '2'], 2, /"status":"finished"/],
  [['--status', 'running'], 0, /never/],
])('operations list %j prints %i matching operations', async (filters, count, each) => {
  const { code, stdout } = await run('operations', 'list', '--project', 'listed', '--format', 'json', ...filters)
  expect(code).toBe(0)
  const found = stdout === '' ? [] : lines(stdout)
  expect(found).toHaveLength(count)
  for (const line of found) expect(line).toMatch(each)
})

test('operations list --limit 0 prints all operations once, newest first, and survives a closed pipe', async () => {
  const { stdout } = await run('operations', 'list', '--project', 'listed', '--limit', '0', '--format', 'json')
  const all = lines(stdout).map((line): { id: string; createdAt: string } => JSON.parse(line))
  expect(all.length).toBeGreaterThan(2_500)
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  const times = all.map(({ createdAt }) => createdAt)
  expect(times).toEqual(times.toSorted().reverse())

  expect(await inShell('operations list --project listed --limit 0 | head -2')).toEqual({ code: 0, stderr: '' })
})

// promise: closed-output
test.skipIf(process.platform !== 'linux')(
  'a full disk under the output is an error, but does not end the command',
  async () => {
    const shown = await inShell('cost --project shop --html page.html > /dev/full')
    expect(shown).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^error {2}The output cannot be written: ENOSPC.*\nWrote the page to page\.html\.\n$/,
      ),
    })
  },
)

const inShell = async (line: string) => {
  const child = spawn('sh', ['-c', `"${process.execPath}" "${join(ROOT, 'dist/main.js')}" ${line}`], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...environmentOf(sandbox) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', (text: Buffer) => {
    stderr += text.toString()
  })
  const [code] = await once(child, 'close')
  return { code, stderr }
}

test('operations get, wait and watch follow a running operation', async () => {
  const watching = start(
    ['operations', 'watch', '--project', 'followed', '--since', '30m'],
    environmentOf(sandbox),
    folder,
  )
  await watching.says('OPERATION')
  const { operations } = await post('followed', 'restart')
  const [first, second] = operations.map(({ id }) => id)
  expect((await run('operations', 'get', first ?? '', '--project', 'followed')).stdout).toContain('In progress')
  const waiting = start(
    ['operations', 'wait', first ?? '', second ?? '', '--project', 'followed'],
    environmentOf(sandbox),
    folder,
  )
  await watching.says('Scheduling')
  await sandbox.clock.advance(5_000)
  const { code, stdout } = await waiting.ended
  expect(code).toBe(0)
  expect(lines(stdout).filter((line) => line.includes(' OK '))).toHaveLength(2)
  const seen = (): number => lines(watching.sofar.stdout).filter((line) => / OK .*ep-followed/.test(line)).length
  // Older operations are not shown.
  await expect.poll(seen).toBe(2)
  watching.interrupt('SIGTERM')
  expect((await watching.ended).code).toBe(0)
})

test('operations watch also reports the end of an operation that runs for longer than --since', async () => {
  const { io, output, send } = fakeIo({ env: environmentOf(sandbox), cwd: folder })
  const clock = { ...io.clock, date: () => sandbox.clock.now() }
  const command = ['operations', 'watch', '--project', 'outlasting', '--since', '3s']
  const ended = runProgram(command, { ...io, clock }).then((code) => ({ code, ...output.sofar }))
  await output.says('OPERATION', ended)
  await post('outlasting', 'restart')
  await output.says('Scheduling', ended)
  await sandbox.clock.advance(5_000)
  await output.says(' OK ', ended)
  send('SIGTERM')
  expect((await ended).code).toBe(0)
})

test('operations wait exits with 1 after its timeout', async () => {
  sandbox.control.addFault({ on: 'operation', endpoint_id: 'ep-hanging', effect: { kind: 'hang' } })
  const [hanging] = (await post('hanging', 'suspend')).operations
  const late = await run('operations', 'wait', hanging?.id ?? '', '--project', 'hanging', '--timeout', '1s')
  expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining('is still running') })
})

test.each([
  [['operations', 'get', '00000000-0000-4000-8000-000000000000'], 'operation not found'],
  [['operations', 'list', '--project', 'nowhere'], '--project nowhere matches no project'],
  [['operations', 'list', '--since', 'yesterday'], '--since yesterday is not a valid duration'],
  [['operations', 'list', '--limit', '-1'], '--limit must be a whole number'],
  [['operations', 'list', '--status', 'Errr'], 'Did you mean `error`?'],
  [['operations', 'list', '--branch', 'mian'], 'Did you mean `main`?'],
  [['operations', 'watch', '--compute', 'main'], 'It has ep-main, ep-reporting, ep-off.'],
])('espalier %j fails with the message: %s', async (args, message) => {
  const { code, stderr } = await run(...args)
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(message) })
  expect(stderr).not.toMatch(/\n\s+at /)
})

test('operations list without manifests requires --project', async () => {
  const empty = await mkdtemp(join(tmpdir(), 'espalier-empty-'))
  const { code, stderr } = await espalier(['operations', 'list'], environmentOf(sandbox), empty)
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('--project') })
})
