/** Projects chosen by name, and selections of a fleet. */
import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { espalier } from './espalier.ts'
import { environmentOf } from './real-computes.ts'

const PROJECTS = [
  ['amber-1', 'billing'],
  ['brown-2', 'billing-eu'],
  ['coral-3', 'shop'],
  ['doves-4', 'twin'],
  ['eagle-5', 'twin'],
] as const

let sandbox: Sandbox
let folder: string
beforeAll(async () => {
  sandbox = await startSandbox({
    timeScale: 100,
    seed: {
      projects: PROJECTS.map(([id, name]) => ({
        id,
        name,
        branches: [
          { name: 'main', default: true, computes: [{ id: `ep-main-${id}`, size: 2, scaleToZero: 'never' }] },
          { name: 'dev', computes: [{ id: `ep-dev-${id}`, size: 1, state: 'idle' }] },
        ],
      })),
    },
  })
})
afterAll(() => sandbox.close())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'espalier-names-'))
})

const run = (...args: readonly string[]) => espalier(args, environmentOf(sandbox), folder)
const manifest = (project: string, size: number): string =>
  `version: 1\nproject: ${project}\nbranches:\n  main: { primary: { size: ${size} } }\n  dev: { primary: {} }\n`
const write = (file: string, text: string) => writeFile(join(folder, file), text)
const commit = () => {
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', folder, ...args], { stdio: 'ignore' })
  git('init', '-q')
  git('add', '.')
  git('-c', 'user.name=x', '-c', 'user.email=x@example.com', '-c', 'commit.gpgsign=false', 'commit', '-qm', 'all')
}

describe('a project chosen by its name', () => {
  test.each([
    [['operations', 'list', '--project', 'billing'], 0, /./],
    [['operations', 'list', '--project', 'sh?p'], 0, /./],
    [['compute', 'start', 'dev', '--project', 'coral-*'], 0, /primary on dev \(ep-dev-coral-3\)/],
    [['compute', 'start', 'dev', '--project', 'Shop'], 0, /primary on dev \(ep-dev-coral-3\)/],
    [['status', '--project', 'billing'], 0, /^billing +amber-1 +2 computes/],
    [['import', '--project', 'shop'], 0, /^project: coral-3$/m],
    [['snapshot', '--project', 'shop', '--out', 'live.json'], 0, /Saved to live\.json/],
  ])('is found by espalier %j', async (args, code, output) => {
    const ended = await run(...args)
    expect(ended.code, ended.stderr).toBe(code)
    expect(ended.stdout + ended.stderr).toMatch(output)
  })

  test.each([
    ['twin', '--project twin matches 2 projects, but this command works on one.', 'by its id: doves-4, eagle-5.'],
    ['*', '--project * matches 5 projects, but this command works on one.', 'amber-1'],
    ['No Such', '--project No Such matches no project that this key can access.', 'It can access amber-1 (billing)'],
  ])('is reported if %j matches several projects or none', async (name, message, hint) => {
    const { code, stderr } = await run('compute', 'start', 'dev', '--project', name)
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(message) })
    expect(stderr).toContain(hint)
  })

  test.each(['snapshot --out live.json', 'cost'])('is not combined with paths by %s', async (line) => {
    const { code, stderr } = await run(...line.split(' '), 'espalier.yaml', '--project', 'shop')
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'error  E_USAGE  --project and paths cannot be combined.\n' })
  })

  test('must be chosen if the manifests declare several projects, which the error lists', async () => {
    await write('espalier.yaml', `${manifest('amber-1', 2)}---\n${manifest('coral-3', 2)}`)
    const started = await run('compute', 'start', 'main')
    expect(started.stderr.replaceAll(/\s+/g, ' ')).toContain('run `espalier compute start main --project amber-1')
    const { stderr } = await run('operations', 'list')
    expect(stderr).toContain('The manifests declare 2 projects, so it is not clear which one to use.')
    expect(stderr).toContain('They declare amber-1, coral-3.')
  })
})

describe('project names next to ids', () => {
  test('are shown by drift', async () => {
    await write('espalier.yaml', manifest('amber-1', 4))
    commit()
    const { stdout } = await run('drift')
    expect(stdout).toContain('primary on main in billing (ep-main-amber-1): size: live 2 CU, declared 4 CU')
    const { differences } = JSON.parse((await run('drift', '--format', 'json')).stdout)
    expect(differences).toMatchObject([{ project: 'amber-1', projectName: 'billing' }])
  })

  test('are shown in warnings and for a project that is no longer managed', async () => {
    await write('billing.yaml', manifest('amber-1', 1))
    await write('shop.yaml', manifest('coral-3', 2))
    commit()
    await rm(join(folder, 'shop.yaml'))
    const { stdout } = await run('plan', '--detail', '.', '--base', 'HEAD')
    const words = stdout.replace(/\s+/g, ' ')
    expect(words).toContain('of project `billing` (amber-1): max_connections')
    expect(words).toContain('primary on main in shop ep-main-coral-3')
  })
})

test('a personal key, which must name an organization to list projects, finds those of all of its organizations', async () => {
  const key = 'napi_personal_0123456789'
  const owned = await startSandbox({
    seed: {
      keys: [{ kind: 'personal', key }],
      projects: ['acme', 'beta'].map((name) => ({
        id: `${name}-1`,
        name,
        org: `org-${name}`,
        branches: [{ name: 'main', computes: [{}] }],
      })),
    },
  })
  onTestFinished(() => owned.close())
  const env = { ...environmentOf(owned), ESPALIER_API_KEY: key }
  expect((await espalier(['import', '--project', 'beta'], env, folder)).stdout).toContain('project: beta-1')
  expect((await espalier(['status', '--project', '*', '-o', 'json'], env, folder)).code).toBe(0)
  const { stderr } = await espalier(['status', '--project', 'nope'], env, folder)
  expect(stderr).toContain('It can access acme-1 (acme), beta-1 (beta).')
})

describe('projects that no manifest declares', () => {
  beforeEach(() => write('espalier.yaml', manifest('amber-1', 2)))
  const undeclared = '4 projects that the key can access are not declared: billing-eu, shop, twin, twin.'
  const listings = () => sandbox.control.requests().filter(({ path }) => path.startsWith('/projects?')).length

  test('are reported by status, which sends one request more', async () => {
    const before = listings()
    expect((await run('status')).stderr).toContain(undeclared)
    expect(listings()).toBe(before + 1)
  })

  test.each([
    [['-o', 'json']],
    [['-o', 'name']],
    [['espalier.yaml']],
    [['--branch', 'main']],
    [['--project', 'amber-1']],
  ])('are not reported by status %j', async (args) => {
    const { code, stderr } = await run('status', ...args)
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.not.stringContaining('not declared') })
  })

  test.each([400, 403, 404])('are not reported if the key cannot list projects (%i)', async (status) => {
    const { id } = sandbox.control.addFault({
      on: 'request',
      method: 'GET',
      path: '/projects',
      effect: { kind: 'status', status },
      times: 0,
    })
    onTestFinished(() => void sandbox.control.removeFault(id))
    expect(await run('status')).toMatchObject({ code: 0, stderr: '' })
    expect((await run('init', '--manifests-only')).code).toBe(0)
  })

  test('are not reported if the manifests have errors, because one of them may be meant to declare them', async () => {
    await write('espalier.yaml', manifest('amber-1', 3.5))
    expect((await run('status')).stderr).not.toContain('not declared')
  })
})

describe('status of some projects and branches', () => {
  beforeEach(async () => {
    await write(
      'espalier.yaml',
      `${manifest('amber-1', 4)}---\n${manifest('brown-2', 2)}---\n${manifest('coral-3', 2)}`,
    )
  })

  test('filters by project and branch and reports what was left out', async () => {
    const { code, stdout, stderr } = await run('status', '--project', 'billing*', '--branch', 'main')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^billing +amber-1 +1 compute, 1 active, 1 differs$/m)
    expect(stdout).toMatch(/^billing-eu +brown-2 +1 compute, 1 active$/m)
    expect(stdout).not.toMatch(/shop|dev/)
    expect(stderr).toBe('Note  Only projects billing*; branches main. Left out: 1 project and 2 computes.\n')
  })

  test('compares the declared projects although another one is undeclared', async () => {
    const { code, stdout } = await run('status', '--project', 'billing', '--project', 'doves-4', '-o', 'json')
    expect(code).toBe(0)
    const { computes } = JSON.parse(stdout) as { computes: { project: string; sync: string | null }[] }
    const syncOf = (id: string) => new Set(computes.flatMap((one) => (one.project === id ? one.sync : [])))
    expect(syncOf('amber-1')).toEqual(new Set(['differs', 'in-sync']))
    expect(syncOf('doves-4')).toEqual(new Set([null]))
  })

  test('lists a project that no manifest declares without the column SYNC', async () => {
    const { code, stdout } = await run('status', '--project', 'doves-4')
    expect(code).toBe(0)
    expect(stdout).toContain('ep-main-doves-4')
    expect(stdout).not.toContain('in sync')
  })

  test.each([
    [['shop'], '--project ID'],
    [['--branch', 'nope'], '--branch nope matches no branch of these projects.'],
    [['--project', 'nope*'], '--project nope* matches no project that this key can access.'],
    [['--project', 'nope'], 'hint: It can access amber-1 (billing), brown-2 (billing-eu)'],
    [['--project', 'amber-2'], 'hint: Did you mean `amber-1`?'],
    [['espalier.yaml', '--project', 'nope'], '--project nope matches no project of these manifests.'],
    [['--branch', '[z-a]'], '--branch [z-a] is not a valid glob'],
  ])('fails for the arguments %j with the message: %s', async (args, message) => {
    const { code, stderr } = await run('status', ...args)
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(message) })
  })
})

test('plan names a project that cannot be planned, and a plan of selected projects shows no waves', async () => {
  await write('a.yaml', manifest('amber-1', 4).replace('dev:', 'gone:'))
  await write('b.yaml', manifest('coral-3', 4))
  await write('waves.yaml', 'waves: [{ name: first, projects: [amber-1] }, { name: second, projects: [coral-3] }]\n')
  const { stderr } = await run('plan', '.')
  expect(stderr).toBe('error  1 of 2 projects could not be planned: billing.\n')
  const { stdout } = await run('plan', '.', '--project', 'shop')
  expect(stdout).not.toContain('Waves')
  expect((await run('plan', '.', '--project', 'shop', '--format', 'markdown')).stdout).not.toContain('Waves')
})

test('status with broken manifests lists the live computes with SYNC unknown', async () => {
  await write('espalier.yaml', `${manifest('amber-1', 4)}---\n${manifest('coral-3', 3.5)}`)
  const { code, stdout, stderr } = await run('status')
  expect(code).toBe(1)
  expect(stderr).toContain('E_SIZE')
  expect(stderr).toContain('SYNC is unknown until the errors in the manifests are corrected.')
  expect(stdout).toMatch(/ unknown +ep-main-amber-1/)
  expect(stdout).toMatch(/ unknown +ep-main-coral-3/)
})

test('import accepts several projects and branches and reports what was left out', async () => {
  const { code, stderr } = await run(
    ...['import', '--project', 'billing*', '--project', 'shop', '--branch', 'ma*', '--branch', 'prod'],
    ...['--out', 'fleet'],
  )
  expect(code, stderr).toBe(0)
  expect((await readdir(join(folder, 'fleet'))).sort()).toEqual(['billing-eu.yaml', 'billing.yaml', 'shop.yaml'])
  expect(stderr).toContain(
    'Note  Only projects billing*, shop; branches ma*, prod. Left out: 2 projects and 3 computes.',
  )
})

test('import into a file keeps a declared rename and updates the other values', async () => {
  const server = await startSandbox({
    seed: {
      projects: [
        {
          id: 'shop',
          branches: [
            { name: 'main', computes: [{ size: 1 }, { id: 'ep-bi', type: 'read_only', name: 'bi', size: 2 }] },
          ],
        },
      ],
    },
  })
  onTestFinished(() => server.close())
  const text =
    'version: 1\nproject: shop\nbranches:\n  main:\n    primary: {}\n    replicas:\n      olap: { renamedFrom: bi, size: 1 }\n'
  await write('espalier.yaml', text)
  const { code, stderr } = await espalier(
    ['import', '--project', 'shop', '--out', 'espalier.yaml'],
    environmentOf(server),
    folder,
  )
  expect(code, stderr).toBe(0)
  expect(stderr).toContain('it is still declared, and apply will rename it')
  expect(stderr).toContain('the plan of this manifest renames 1 replica.')
  expect(await readFile(join(folder, 'espalier.yaml'), 'utf8')).toBe(text.replace('size: 1', 'size: 2'))
})
