/** `plan --base REF` and `drift --base REF` separate changes to the manifests since REF from changes to live state. */
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { manualClock, type Sandbox, type Seed, startSandbox } from '../../src/sandbox/index.ts'
import { espalier } from './espalier.ts'
import { environmentOf } from './real-computes.ts'

const SEED: Seed = {
  projects: [
    {
      id: 'shop',
      branches: ['main', 'a', 'b', 'c'].map((name) => ({ name, computes: [{ id: `ep-${name}`, size: 1 }] })),
    },
  ],
}
let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox({ seed: SEED })
})
afterAll(() => sandbox.close())

let folder: string
const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', '-c', 'commit.gpgsign=false', ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
const manifest = (sizes: Readonly<Record<string, number>>): string =>
  [
    'version: 1',
    'project: shop',
    'branches:',
    ...Object.entries(sizes).map(([name, size]) => `  ${name}: { primary: { size: ${size} } }`),
    '',
  ].join('\n')
const plan = (...args: readonly string[]) => espalier(['plan', ...args], environmentOf(sandbox), folder)

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'espalier-base-'))
  git('init', '-q', '-b', 'main')
  // Three computes have drifted from the base's manifests.
  await writeFile(join(folder, 'espalier.yaml'), manifest({ main: 1, a: 2, b: 2, c: 2 }))
  git('add', '.')
  git('commit', '-q', '-m', 'base')
})

test('plan --base separates one introduced change from three drifted computes and does not change the work tree', async () => {
  const edited = manifest({ main: 4, a: 2, b: 2, c: 2 })
  await writeFile(join(folder, 'espalier.yaml'), edited)
  const { code, stdout } = await plan('--base', 'main')
  expect(code).toBe(0)
  expect(stdout).toContain('Introduced since main: 1 change')
  expect(stdout).toContain('Existing drift: 3 changes')
  expect(stdout.indexOf('ep-main')).toBeLessThan(stdout.indexOf('Existing drift'))
  expect(await readFile(join(folder, 'espalier.yaml'), 'utf8')).toBe(edited)
  expect(git('status', '--porcelain')).toBe(' M espalier.yaml\n')

  const { origin } = JSON.parse((await plan('--base', 'main', '--format', 'json')).stdout)
  expect(origin.base).toBe(git('rev-parse', 'main').trim())
  expect(origin.introduced.map(({ compute }: { compute: { id: string } }) => compute.id)).toEqual(['ep-main'])
  expect(origin.drift).toHaveLength(3)
  expect((await plan('--base', 'main', '--format', 'markdown')).stdout).toContain('Existing drift: 3')
})

test("apply accepts a plan that was saved with --base, even if it removes one of the base's policies", async () => {
  await writeFile(
    join(folder, 'espalier.yaml'),
    manifest({ main: 4, a: 2, b: 2, c: 2 }).replace(
      '{ primary: { size: 4 } }',
      '{ protect: true, primary: { size: 4 } }',
    ),
  )
  git('commit', '-qam', 'protect')
  await writeFile(join(folder, 'espalier.yaml'), manifest({ main: 1, a: 1, b: 1, c: 2 }))
  const own = await startSandbox({ seed: SEED })
  try {
    const planned = await espalier(['plan', '--base', 'main', '--out', 'own.json'], environmentOf(own), folder)
    expect(planned.stdout).toContain('protect on main: no longer protected')
    const applied = await espalier(['apply', 'own.json', '--auto-approve'], environmentOf(own), folder)
    expect(applied.code, applied.stderr).toBe(0)
  } finally {
    await own.close()
  }
})

test('apply --introduced does not revert drift, not even from a saved plan', async () => {
  const own = await startSandbox({ seed: SEED })
  const run = (...args: readonly string[]) => espalier(args, environmentOf(own), folder)
  const sizes = () =>
    own.control
      .dump()
      .changes.flatMap((change) =>
        'put' in change && change.put.kind === 'compute' ? [`${change.put.id} ${change.put.max}`] : [],
      )
      .toSorted()
  try {
    await writeFile(join(folder, 'espalier.yaml'), manifest({ main: 4, a: 2, b: 2, c: 2 }))
    const only = ['--base', 'main', '--introduced']
    const applied = await run('apply', ...only, '--auto-approve')
    expect(applied.code, applied.stderr).toBe(0)
    expect(applied.stderr).toMatch(/Note {2}Only changes introduced since [0-9a-f]{12}\. Left out: 3 changes\./)
    await writeFile(join(folder, 'espalier.yaml'), manifest({ main: 4, a: 3, b: 2, c: 2 }))
    await run('plan', ...only, '--branch', 'a', '--out', 'plan.json')
    const saved = await run('apply', 'plan.json', '--auto-approve')
    expect(saved.code, saved.stderr).toBe(0)
    expect(sizes()).toEqual(['ep-a 3', 'ep-b 1', 'ep-c 1', 'ep-main 4'])
    expect((await run('apply', '--introduced', '--auto-approve')).stderr).toContain('needs --base REF')
    expect((await run('apply', 'plan.json', '--branch', 'a', '--auto-approve')).stderr).toContain('Remove --branch')
  } finally {
    await own.close()
  }
})

test('plan --base shows a new file as introduced and a renamed file as unchanged', async () => {
  git('mv', 'espalier.yaml', 'shop.yaml')
  const renamed = JSON.parse((await plan('.', '--base', 'HEAD', '--format', 'json')).stdout)
  expect(renamed.origin.introduced).toEqual([])
  const fresh = JSON.parse((await plan('shop.yaml', '--base', 'HEAD', '--format', 'json')).stdout)
  expect(fresh.origin.introduced).toHaveLength(3)
})

test('plan --base works even if the manifests of the base are invalid', async () => {
  await writeFile(
    join(folder, 'espalier.yaml'),
    'version: 1\nproject: shop\nbranches: { main: { primary: { size: 3.5 } } }\n',
  )
  git('commit', '-q', '-a', '-m', 'wrong')
  await writeFile(join(folder, 'espalier.yaml'), manifest({ main: 4 }))
  const { code, stdout, stderr } = await plan('--base', 'HEAD')
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('have errors') })
  expect(stdout).toContain('Introduced since HEAD: 1 change')
})

test('plan --base does not follow links in the base', async () => {
  await symlink('/etc/passwd', join(folder, 'link.yaml'))
  git('add', '.')
  git('commit', '-q', '-m', 'a link')
  const { code, stdout } = await plan('espalier.yaml', '--base', 'HEAD')
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.not.stringContaining('root:') })
})

test.each([
  ['nowhere', 'There is no commit nowhere here.'],
  ['--output=x', 'There is no commit --output=x here.'],
])('plan --base=%s fails with the message: %s', async (ref, message) => {
  const { code, stderr } = await plan(`--base=${ref}`)
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(message) })
  expect(stderr).not.toMatch(/\n\s+at /)
})

const drift = (...args: readonly string[]) => espalier(['drift', ...args], environmentOf(sandbox), folder)

test('for each difference, drift reports which side changed, and it exits with 2', async () => {
  // On main only the manifest changed, on a and b only the live compute, on c both.
  await writeFile(join(folder, 'espalier.yaml'), manifest({ main: 4, a: 2, b: 2, c: 4 }))
  const { code, stdout } = await drift()
  expect(code).toBe(2)
  expect(stdout).toMatchSnapshot()
  const { drifted, differences } = JSON.parse((await drift('--format', 'json')).stdout)
  expect(drifted).toBe(3)
  expect(
    differences.map(({ branch, mover }: { branch: { name: string }; mover: string }) => `${branch.name}: ${mover}`),
  ).toEqual(['a: live', 'b: live', 'c: both', 'main: manifest'])
})

test('drift does not report a change made only in the manifest', async () => {
  await writeFile(join(folder, 'espalier.yaml'), manifest({ main: 4 }))
  expect(await drift()).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift since HEAD.') })
  expect((await drift('--base', 'nowhere')).stderr).toContain('There is no commit nowhere here.')
})

test('plan --base reports removed policies and equals the plan after the merge', async () => {
  const window = '{ days: [sun], from: "02:00", to: "04:00", timezone: UTC }'
  const shop = (guard: string, size: number) =>
    `version: 1\nproject: shop\nbranches:\n  main:\n${guard}    primary: { size: ${size} }\n`
  await writeFile(join(folder, 'espalier.yaml'), `restartWindow: ${window}\n${shop('    protect: true\n', 1)}`)
  git('commit', '-qam', 'guarded')
  await writeFile(join(folder, 'espalier.yaml'), shop('', 4))
  const { stdout } = await plan('--base', 'HEAD', '--format', 'json')
  const { steps, warnings, origin } = JSON.parse(stdout)
  expect(steps).toMatchObject([{ impact: 'restart' }])
  expect(steps[0]).not.toHaveProperty('windows')
  expect(warnings).toEqual([])
  expect(origin.released).toMatchObject([
    { kind: 'safeguard', safeguard: 'restartWindow', before: 'Sun 02:00–04:00 UTC', after: 'any time' },
    { kind: 'safeguard', safeguard: 'protect', branch: { name: 'main' } },
  ])
  const unguarded = JSON.parse((await plan('--format', 'json')).stdout)
  expect(unguarded.warnings).toEqual([])
})

test('plan --base reports removed manifests with their position in the base', async () => {
  await writeFile(join(folder, 'espalier.yaml'), manifest({ main: 1, a: 2, b: 2 }))
  const { code, stdout } = await plan('--base', 'main')
  expect(code).toBe(0)
  expect(stdout).toContain('No longer managed since main: 1 compute')
  expect(stdout).toMatch(/primary on c {2}ep-c {2}active {2}was declared at espalier\.yaml:7/)
  expect(stdout).not.toContain('The manifests introduce no changes')
  const { origin } = JSON.parse((await plan('--base', 'main', '--format', 'json')).stdout)
  expect(origin).toMatchObject({ introduced: [], settled: [], released: [{ compute: { id: 'ep-c' } }] })
  expect((await plan('--base', 'main', '--format', 'markdown')).stdout).toContain('**No longer managed**')
  const page = join(folder, 'plan.html')
  await plan('--base', 'main', '--html', page)
  expect(await readFile(page, 'utf8')).toContain('No longer managed: 1 compute')
})

const WINDOW = '{ days: [sun], from: "02:00", to: "04:00", timezone: UTC }'

test.each([
  [
    'disabled',
    'main: { primary: { size: 1, disabled: true } }',
    'main: { primary: { size: 1 } }',
    'disabled (live: true) on primary on main: stays; to restore the default, write disabled: false',
    'No longer managed',
  ],
  [
    'a restart window',
    `main: { primary: { size: 1, restartWindow: ${WINDOW} } }`,
    'main: { primary: { size: 1 } }',
    'restartWindow on primary on main: Sun 02:00–04:00 UTC → any time',
    'Weakened',
  ],
])('a revert of %s lists what the manifests give up, and claims nothing else', async (_, base, head, words, title) => {
  const write = (branches: string) =>
    writeFile(join(folder, 'espalier.yaml'), `version: 1\nproject: parked\nbranches: { ${branches} }\n`)
  const parked = [{ id: 'ep-parked', size: 1, disabled: base.includes('disabled') }]
  const own = await startSandbox({
    seed: { projects: [{ id: 'parked', branches: [{ name: 'main', computes: parked }] }] },
  })
  onTestFinished(() => own.close())
  const planned = (...args: readonly string[]) => espalier(['plan', ...args], environmentOf(own), folder)
  await write(head)
  git('commit', '-qam', 'before')
  await write(base)
  git('commit', '-qam', 'declare')
  git('revert', '--no-edit', 'HEAD')
  const since = ['--base', 'HEAD~1']
  const page = join(folder, 'plan.html')
  const outputs = [
    (await planned(...since, '--html', page)).stdout,
    (await planned(...since, '--format', 'markdown')).stdout.replaceAll('`', ''),
    (await readFile(page, 'utf8')).replace(/<\/?code>/g, ''),
  ]
  for (const output of outputs) {
    const text = output.replace(/\s+/g, ' ')
    expect(text).toContain(words)
    expect(text.match(/No longer managed|Weakened/)?.[0]).toBe(title)
    expect(text).not.toMatch(/no changes/i)
  }
  // Reverting the revert declares it again.
  git('revert', '--no-edit', 'HEAD')
  expect((await planned('--base', 'HEAD~2')).stdout).toContain('The manifests introduce no changes since HEAD~2.')
})

// hint: No connection can start a disabled one: to enable it, declare it with `disabled: false`.
test('a revert that gives up a disabled compute says that it stays disabled, and how to enable it', async () => {
  const write = (branches: string) =>
    writeFile(join(folder, 'espalier.yaml'), `version: 1\nproject: parked\nbranches: { ${branches} }\n`)
  const [main, dev] = [
    { id: 'ep-main', size: 1 },
    { id: 'ep-dev', size: 1, disabled: true },
  ] as const
  const branches = [
    { name: 'main', computes: [main] },
    { name: 'dev', computes: [dev] },
  ]
  const own = await startSandbox({ seed: { projects: [{ id: 'parked', branches }] } })
  onTestFinished(() => own.close())
  const planned = async (...args: readonly string[]) =>
    (await espalier(['plan', ...args], environmentOf(own), folder)).stdout
  await write('main: { primary: {} }, dev: { primary: { disabled: true } }')
  git('commit', '-qam', 'declare')
  await write('main: { primary: {} }')
  const page = join(folder, 'plan.html')
  const outputs = [
    await planned('--base', 'HEAD', '--html', page),
    await planned('--base', 'HEAD', '--format', 'markdown'),
    await readFile(page, 'utf8'),
  ]
  for (const output of outputs) {
    const text = output.replace(/<\/?code>|`/g, '').replace(/\s+/g, ' ')
    expect(text).toMatch(/ep-dev.{0,20}disabled/)
    expect(text).toContain('to enable it, declare it with disabled: false')
  }
  await write('main: { primary: {} }, dev: { primary: { disabled: false } }')
  expect(await planned()).toMatch(/primary on dev +not disabled/)
})

test('defaults that are removed are listed once for all computes, with the live value of each', async () => {
  const all = ['main', 'a', 'b', 'c'].map((name) => `  ${name}: { primary: {} }\n`).join('')
  const write = (defaults: string) =>
    writeFile(join(folder, 'espalier.yaml'), `version: 1\nproject: shop\n${defaults}branches:\n${all}`)
  await write('defaults: { size: 1, scaleToZero: 5m }\n')
  git('commit', '-qam', 'defaults')
  await write('')
  const { stdout } = await plan('--base', 'HEAD')
  const text = stdout.replace(/\s+/g, ' ')
  expect(text).toContain('No longer managed since HEAD: 4 attributes')
  expect(text).toContain('size (live: 1 CU) on 4 computes: primary on a, primary on b, primary on c and 1 more: stays')
  expect(text).toContain('Nothing to apply. What is no longer managed stays as it is.')
  // The live scale to zero is the default.
  const { origin } = JSON.parse((await plan('--base', 'HEAD', '--format', 'json')).stdout)
  expect(origin.released).toHaveLength(8)
})

test('drift shows when the live project changed, according to its operations', async () => {
  const own = await startSandbox({ seed: SEED, clock: manualClock() })
  onTestFinished(() => own.close())
  const call = (method: string, path: string, body?: unknown) =>
    fetch(`${own.apiUrl}/projects/shop${path}`, {
      method,
      headers: { authorization: `Bearer ${own.apiKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  await call('PATCH', '/endpoints/ep-a', {
    endpoint: { autoscaling_limit_min_cu: 3, autoscaling_limit_max_cu: 3 },
  })
  await own.clock.advance(60_000)
  await call('POST', '/endpoints/ep-b/restart')
  await own.clock.advance(60_000)
  expect((await call('DELETE', '/endpoints/ep-b')).status).toBe(200)
  const { code, stdout } = await espalier(['drift'], environmentOf(own), folder)
  expect(code).toBe(2)
  const text = stdout.replace(/\s+/g, ' ')
  expect(text).toMatch(
    /primary on a in shop \(ep-a\): size: live 3 CU, declared 2 CU; changed \d+\w ago by apply_config /,
  )
  expect(text).toMatch(/primary on b in shop: deleted; last operation of ep-b \d+\w ago by \w+ /)
})

test('drift reports a compute that was never applied, and plan --base reports a compute that is no longer managed', async () => {
  const more = 'version: 1\nproject: shop\nbranches: { c: { replicas: { gone: { size: 1 } } } }\n'
  await writeFile(join(folder, 'more.yaml'), more)
  await writeFile(join(folder, 'espalier.yaml'), manifest({ main: 1 }))
  git('add', '.')
  git('commit', '-qm', 'two files')
  const { code, stdout } = await drift('.')
  expect(code).toBe(2)
  expect(stdout).toContain('replica "gone" on c in shop: not live: deleted, or never applied')
  git('rm', '-q', 'espalier.yaml')
  expect((await plan('.', '--base', 'HEAD')).stdout).toContain('No longer managed since HEAD: 1 compute')
})

test('plan --base reports that nothing was introduced, and fails outside a git repository', async () => {
  expect((await plan('--base', 'main')).stdout).toContain('The manifests introduce no changes since main.')
  const outside = await mkdtemp(join(tmpdir(), 'espalier-no-git-'))
  await writeFile(join(outside, 'espalier.yaml'), manifest({ main: 1 }))
  for (const args of [['drift'], ['plan', '--base', 'HEAD']]) {
    const { code, stderr } = await espalier(args, environmentOf(sandbox), outside)
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('not in a git repository') })
  }
})
