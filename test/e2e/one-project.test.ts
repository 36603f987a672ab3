/** A problem in one project stops only that project, in plan, apply, saved plans, drift and status. */
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { espalier } from './espalier.ts'
import { environmentOf } from './real-computes.ts'

const PROJECTS = ['alpha', 'beta', 'gamma']
let sandbox: Sandbox
let folder: string
beforeAll(async () => {
  sandbox = await startSandbox({
    timeScale: 100,
    seed: {
      projects: PROJECTS.map((id) => ({
        id,
        branches: [{ name: 'main', computes: [{ id: `ep-${id}`, size: 1, scaleToZero: 'never' }] }],
      })),
    },
  })
})
afterAll(() => sandbox.close())

const manifest = (project: string, branch: string, size: number): string =>
  `version: 1\nproject: ${project}\nbranches:\n  ${branch}: { primary: { size: ${size} } }\n`
const write = (project: string, branch: string, size: number) =>
  writeFile(join(folder, `${project}.yaml`), manifest(project, branch, size))
const run = (...args: readonly string[]) => espalier(args, environmentOf(sandbox), folder)
/** The size of each project's compute, as in the API. */
const sizes = async (): Promise<Readonly<Record<string, number>>> => {
  const entries = PROJECTS.map(async (id) => {
    const headers = { authorization: `Bearer ${sandbox.apiKey}` }
    const answer = await fetch(`${sandbox.apiUrl}/projects/${id}/endpoints`, { headers })
    const { endpoints } = (await answer.json()) as { endpoints: { autoscaling_limit_max_cu: number }[] }
    return [id, endpoints[0]?.autoscaling_limit_max_cu ?? 0] as const
  })
  return Object.fromEntries(await Promise.all(entries))
}

let before: Readonly<Record<string, number>>
let size: number
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'espalier-fleet-'))
  before = await sizes()
  // A size other than that of earlier tests.
  size = Math.max(...Object.values(before)) === 2 ? 3 : 2
  await write('alpha', 'main', size)
  await write('beta', 'gone', size)
  await write('gamma', 'main', size)
})
afterEach(() => sandbox.control.clearFaults())

test('if one project has a problem, plan shows the other projects and the problem, and exits with 1', async () => {
  const { code, stdout, stderr } = await run('plan', '.')
  expect(code).toBe(1)
  expect(stdout).toContain('alpha  primary on main')
  expect(stdout.replace(/\s+/g, ' ')).toContain(
    'Left out: 1 of 3 projects could not be planned; `apply` applies the others',
  )
  expect(stdout).toContain('Project `beta` has no branch `gone`.')
  expect(stderr).toBe('error  1 of 3 projects could not be planned: beta.\n')
  const json = JSON.parse((await run('plan', '.', '--format', 'json')).stdout)
  expect(json).toMatchObject({
    projects: ['alpha', 'gamma'],
    leftOut: [{ project: 'beta', diagnostics: [{ code: 'E_BRANCH_UNKNOWN' }] }],
  })
})

test('plan prints no plan if every project has a problem', async () => {
  const { code, stdout, stderr } = await run('plan', 'beta.yaml')
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('E_BRANCH_UNKNOWN')
})

test('plan prints no plan if any manifest has an error', async () => {
  await writeFile(join(folder, 'beta.yaml'), manifest('beta', 'main', 3.5))
  for (const args of [
    ['plan', '.'],
    ['apply', '.', '--auto-approve'],
  ]) {
    const { code, stdout } = await run(...args)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  }
  expect(await sizes()).toEqual(before)
})

// promise: one-broken-project
// hint: If the branch was deleted, delete its entry at
test('a branch that has gone leaves only its project out of an apply, which exits with 3 until its entry is deleted', async () => {
  const main = '  main: { primary: {} }\n'
  await writeFile(join(folder, 'beta.yaml'), manifest('beta', 'gone', size) + main)
  const applied = await run('apply', '.', '--auto-approve')
  expect(applied.code, applied.stderr).toBe(3)
  expect(applied.stdout.replace(/\s+/g, ' ')).toContain('delete its entry at beta.yaml:4.')
  expect(applied.stdout).toContain('Apply incomplete: 2 done, 1 of 3 projects left out.')
  expect(await sizes()).toEqual({ ...before, alpha: size, gamma: size })

  const again = await run('apply', '.', '--auto-approve')
  expect(again.code).toBe(3)
  expect(again.stdout).toContain('No changes in 2 of 3 projects.')
  expect(again.stdout).toContain('E_BRANCH_UNKNOWN')

  await writeFile(join(folder, 'beta.yaml'), `version: 1\nproject: beta\nbranches:\n${main}`)
  expect(await run('apply', '.', '--auto-approve')).toMatchObject({ code: 0 })
})

test('an apply in which every project has a problem changes nothing and exits with 1', async () => {
  const { code, stdout, stderr } = await run('apply', 'beta.yaml', '--auto-approve')
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('E_BRANCH_UNKNOWN')
  expect(stderr).toContain('Nothing was changed.')
  expect(await sizes()).toEqual(before)
})

test('a branch that only a selection names is a usage error, and nothing is changed', async () => {
  const { code, stderr } = await run('apply', '.', '--auto-approve', '--branch', 'gone')
  expect(code).toBe(1)
  expect(stderr).toContain('--branch gone matches no branch of these projects.')
  expect(await sizes()).toEqual(before)
})

test('a saved partial plan reports what it leaves out, and apply applies the rest', async () => {
  expect((await run('plan', '.', '--out', 'plan.json')).code).toBe(1)
  expect(JSON.parse(await readFile(join(folder, 'plan.json'), 'utf8')).plan.leftOut).toMatchObject([
    { project: 'beta' },
  ])
  expect((await run('show', 'plan.json')).stdout).toContain('Left out: 1 of 3 projects could not be planned')
  expect((await run('show', 'plan.json', '--format', 'markdown')).stdout).toContain(
    '1 of 3 projects could not be planned',
  )
  // A project that was left out was not reviewed, so it stays out even if its problem is solved.
  await write('beta', 'main', size)
  const { code, stdout, stderr } = await run('apply', 'plan.json', '--auto-approve')
  expect(code, stderr).toBe(3)
  expect(stdout).toContain('Apply incomplete: 2 done, 1 of 3 projects left out.')
  expect(await sizes()).toEqual({ ...before, alpha: size, gamma: size })
})

// promise: one-broken-project
test.each([
  ['access denied', { kind: 'status', status: 403, message: 'no right to this project' }, 'no right to this project'],
  ['not there', { kind: 'status', status: 404 }, 'There is no project `beta`'],
  ['a server error', { kind: 'status', status: 500, message: 'out of order' }, 'out of order'],
  ['an odd answer', { kind: 'malformed' }, 'E_PROJECT_UNREADABLE'],
] as const)('the fault %j for one project leaves only that project out of the plan', async (_why, effect, words) => {
  await write('beta', 'main', size)
  sandbox.control.addFault({ on: 'request', method: 'GET', path: '/projects/beta/endpoints', effect, times: 0 })
  const { code, stdout } = await run('plan', '.')
  expect(code).toBe(1)
  expect(stdout).toContain('gamma  primary on main')
  expect(stdout).toContain('Left out: 1 of 3 projects could not be planned')
  expect(stdout.replace(/\s+/g, ' ')).toContain(words)
})

test('operations get finds the declared project that has the operation', async () => {
  await mkdir(join(folder, 'espalier'))
  for (const project of PROJECTS)
    await writeFile(join(folder, `espalier/${project}.yaml`), manifest(project, 'main', 1))
  const authorization = `Bearer ${sandbox.apiKey}`
  const last = PROJECTS.at(-1) ?? ''
  const url = `${sandbox.apiUrl}/projects/${last}/endpoints/ep-${last}/restart`
  const { operations } = (await (await fetch(url, { method: 'POST', headers: { authorization } })).json()) as {
    operations: { id: string }[]
  }
  const id = operations[0]?.id ?? ''
  expect(await run('operations', 'get', id)).toMatchObject({ code: 0, stdout: expect.stringContaining(id) })
  const unknown = await run('operations', 'get', '00000000-0000-4000-8000-000000000000')
  expect(unknown.code).toBe(1)
  expect(unknown.stderr.replace(/\s+/g, ' ')).toContain('None of the 3 declared projects has the operation')
})

test('if one project has a problem, drift and status show the other projects and the problem, and exit with 1', async () => {
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', folder, ...args], { stdio: 'ignore' })
  git('init', '-q')
  git('add', '.')
  git('-c', 'user.name=x', '-c', 'user.email=x@example.com', '-c', 'commit.gpgsign=false', 'commit', '-qm', 'all')
  const drift = await run('drift', '.')
  expect(drift.code).toBe(1)
  expect(drift.stdout).toContain('primary on main in gamma')
  expect(drift.stdout).toContain('Drift since HEAD in 2 of 3 projects: 2 differences.')
  expect(drift.stderr).toContain('E_BRANCH_UNKNOWN')
  expect(JSON.parse((await run('drift', '.', '--format', 'json')).stdout).leftOut).toMatchObject([{ project: 'beta' }])

  const status = await run('status', '.')
  expect(status.code).toBe(1)
  expect(status.stdout).toMatch(/ differs +ep-alpha /)
  expect(status.stdout).toMatch(/ unknown +ep-beta /)
  expect(status.stderr).toContain('E_BRANCH_UNKNOWN')
  const json = JSON.parse((await run('status', '.', '--format', 'json')).stdout)
  expect(json.computes.map(({ project, sync }: Record<string, unknown>) => [project, sync])).toEqual([
    ['alpha', 'differs'],
    ['beta', 'unknown'],
    ['gamma', 'differs'],
  ])
  expect(json.leftOut).toMatchObject([{ project: 'beta' }])
})

test('status --project shows the other projects if one cannot be read', async () => {
  sandbox.control.addFault({
    on: 'request',
    path: '/projects/beta/branches',
    effect: { kind: 'status', status: 403, message: 'no right to this project' },
    times: 0,
  })
  const { code, stdout, stderr } = await run(
    'status',
    '--project',
    'alpha',
    '--project',
    'beta',
    '--project',
    'nowhere',
  )
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining('ep-alpha') })
  const words = stderr.replace(/\s+/g, ' ')
  expect(words).toContain('no right to this project')
  expect(words).toContain('There is no project `nowhere`')
})

test('show --html also writes a saved plan as an HTML page', async () => {
  await run('plan', 'alpha.yaml', '--out', 'plan.json')
  const { code, stderr } = await run('show', 'plan.json', '--html', 'plan.html')
  expect(code, stderr).toBe(0)
  const [, title] = /<title>(.*?)<\/title>/.exec(await readFile(join(folder, 'plan.html'), 'utf8')) ?? []
  expect(title).toBe('Plan: 1 to update. alpha')
})

// hint: To restore the declared values, run `espalier apply
// hint: To accept the live ones, run `espalier import --project … --out FILE`.
test('drift names the commands that restore the declared values and accept the live ones', async () => {
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', folder, ...args], { stdio: 'ignore' })
  git('init', '-q')
  await writeFile(join(folder, 'espalier.yaml'), manifest('gamma', 'main', size))
  git('add', '.')
  git('-c', 'user.name=x', '-c', 'user.email=x@example.com', '-c', 'commit.gpgsign=false', 'commit', '-qm', 'all')
  const drift = await run('drift')
  expect(drift.code).toBe(2)
  const text = drift.stdout.replace(/\s+/g, ' ')
  expect(text).toContain('`espalier apply --project gamma`')
  expect(text).toContain('`espalier import --project gamma --out FILE`')
  expect((await run('import', '--project', 'gamma', '--out', 'espalier.yaml')).code).toBe(0)
  expect((await run('plan', '--detailed-exitcode')).code).toBe(0)
  git('checkout', '-q', 'espalier.yaml')
  expect((await run('apply', '--project', 'gamma', '--auto-approve')).code).toBe(0)
  expect((await run('drift')).code).toBe(0)
})
