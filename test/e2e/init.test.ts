/** `init` writes a first manifest, editor settings and workflows, and overwrites nothing. */
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseSeed, type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { espalier } from './espalier.ts'
import { environmentOf } from './real-computes.ts'

let one: Sandbox
let two: Sandbox
beforeAll(async () => {
  one = await startSandbox({ seed: parseSeed(await readFile('examples/quickstart/seed.yaml', 'utf8'), 'seed.yaml') })
  two = await startSandbox({ seed: parseSeed(await readFile('examples/fleet/seed.yaml', 'utf8'), 'seed.yaml') })
})
afterAll(() => Promise.all([one.close(), two.close()]))

const emptyFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'espalier-init-'))
const repository = async (): Promise<string> => {
  const folder = await emptyFolder()
  execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: folder })
  return folder
}
const read = (folder: string, file: string): Promise<string> => readFile(join(folder, file), 'utf8')

test('init with a key writes a manifest with an empty plan, editor settings and workflows', async () => {
  const folder = await repository()
  const { code, stdout, stderr } = await espalier(['init'], environmentOf(one), folder)
  expect(code, stderr).toBe(0)
  expect(stdout).toMatchInlineSnapshot(`
    "written        espalier.yaml: 5 computes; its plan is empty
    inferred       defaults: \`size: 0.25\`, which 3 of 5 computes have
    inferred       defaults: \`scaleToZero: default\`, which 2 of 5 computes have
    written        .vscode/espalier.schema.json
    written        .vscode/settings.json
    written        .vscode/extensions.json
    written        .github/workflows/espalier-plan.yml
    written        .github/workflows/espalier-apply.yml
    written        espalier.policy.yaml

    Next
      1. \`espalier plan\` shows what would change
      2. set the key for plans: \`gh secret set ESPALIER_PLAN_KEY\`
      3. set the key for applies, in an environment that only the default branch may use: \`gh secret set ESPALIER_API_KEY --env production\`
      4. commit and push
    "
  `)
  const planned = await espalier(['plan', '--detailed-exitcode'], environmentOf(one), folder)
  expect(planned.code, planned.stdout + planned.stderr).toBe(0)
  expect(await read(folder, 'espalier.yaml')).toMatch(
    /^# yaml-language-server: \$schema=\.vscode\/espalier\.schema\.json\n/,
  )
  expect(JSON.parse(await read(folder, '.vscode/settings.json'))).toEqual({
    'yaml.schemas': {
      './.vscode/espalier.schema.json': ['espalier.yaml', 'espalier.yml', 'espalier/**/*.yaml', 'espalier/**/*.yml'],
    },
  })
  expect(JSON.parse(await read(folder, '.vscode/extensions.json'))).toEqual({ recommendations: ['redhat.vscode-yaml'] })
  for (const [written, example] of [
    ['plan', 'pull-request'],
    ['apply', 'apply'],
  ]) {
    expect(await read(folder, `.github/workflows/espalier-${written}.yml`)).toBe(
      await readFile(`examples/workflows/${example}.yml`, 'utf8'),
    )
  }
  expect(await read(folder, 'espalier.policy.yaml')).toBe(await readFile('examples/ci/espalier.policy.yaml', 'utf8'))
  // A second run writes nothing.
  const again = await espalier(['init'], environmentOf(one), folder)
  expect(again).toMatchObject({ code: 0 })
  expect(again.stdout).not.toMatch(/^(written|added)/m)
})

test('init adds to existing editor settings and keeps their comments', async () => {
  const folder = await emptyFolder()
  await mkdir(join(folder, '.vscode'))
  const settings = '{\n  // ours\n  "editor.tabSize": 4,\n  "yaml.schemas": { "x.json": "x.yaml" },\n}\n'
  await writeFile(join(folder, '.vscode/settings.json'), settings)
  await writeFile(join(folder, '.vscode/extensions.json'), 'not JSON')
  const { code, stdout } = await espalier(['init', '--project', 'quiet-river-12345678'], {}, folder)
  expect(code).toBe(0)
  const after = await read(folder, '.vscode/settings.json')
  expect(after).toContain('  // ours\n  "editor.tabSize": 4,\n')
  expect(after).toContain('"x.json": "x.yaml"')
  expect(after).toContain('./.vscode/espalier.schema.json')
  expect(stdout).toContain('unchanged      .vscode/extensions.json: it is not JSON')
  expect(await read(folder, '.vscode/extensions.json')).toBe('not JSON')
  expect(stdout).toContain('workflows: this is not a git repository')
})

test('init without a key writes a valid, formatted manifest to fill in', async () => {
  const folder = await emptyFolder()
  const args = ['init', '--project', 'quiet-river-12345678', '--manifests-only']
  const { code, stdout } = await espalier(args, {}, folder)
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('which you must fill in') })
  expect((await espalier(['validate'], {}, folder)).code).toBe(0)
  expect((await espalier(['fmt', '--check'], {}, folder)).code).toBe(0)
  // The commented example is a valid manifest too, once uncommented.
  const text = await read(folder, 'espalier.yaml')
  const [said = '', shown = ''] = text.split(/(?<=project: .*\n)/)
  await writeFile(join(folder, 'filled.yaml'), said + shown.replace(/^# ?/gm, ''))
  const filled = await espalier(['validate', 'filled.yaml', '--format', 'json'], {}, folder)
  expect(filled.code, filled.stdout + (await read(folder, 'filled.yaml'))).toBe(0)
  expect(await read(folder, 'filled.yaml')).toContain('\n  main:\n    protect: true')
})

test.each([
  ['neither a key nor a project', [], () => ({}), 'init needs an API key or a project id.'],
  ['an invalid project id', ['--project', 'A B'], () => ({}), '"A B" is not a valid project id'],
  [
    'a project that does not exist',
    ['--project', 'nowhere'],
    () => environmentOf(one),
    '--project nowhere matches no project that this key can access.',
  ],
])('init with %s fails with a message and writes nothing', async (_what, args, env, message) => {
  const folder = await emptyFolder()
  const { code, stdout, stderr } = await espalier(['init', ...args], env(), folder)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr.replace(/\s+/g, ' ')).toContain(message)
  await expect(read(folder, 'espalier.yaml')).rejects.toThrow()
})

test('init writes no workflows in a subfolder of the repository or if no remote is on GitHub', async () => {
  const folder = await repository()
  await mkdir(join(folder, 'db'))
  const args = ['init', '--project', 'quiet-river-12345678']
  expect((await espalier(args, {}, join(folder, 'db'))).stdout).toContain(
    'workflows must be in the root of the repository',
  )
  execFileSync('git', ['remote', 'add', 'origin', 'https://gitlab.example/x.git'], { cwd: folder })
  expect((await espalier(args, {}, folder)).stdout).toContain('no remote of this repository is on GitHub')
})

test.each([
  [
    'a custom list of files under the same schema',
    { 'yaml.schemas': { './.vscode/espalier.schema.json': ['infra/*.yaml'] } },
    'exists',
  ],
  ['schemas that are not an object', { 'yaml.schemas': 'x' }, '`yaml.schemas` is not an object'],
  ['settings that are a list', [], 'it is not a JSON object'],
])('init does not change editor settings with %s', async (_what, settings, said) => {
  const folder = await emptyFolder()
  await mkdir(join(folder, '.vscode'))
  const before = `${JSON.stringify(settings)}\n`
  await writeFile(join(folder, '.vscode/settings.json'), before)
  const { code, stdout } = await espalier(['init', '--project', 'p'], {}, folder)
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(said) })
  expect(await read(folder, '.vscode/settings.json')).toBe(before)
})

test('init adds to editor settings that contain only comments, and keeps the comments', async () => {
  const folder = await emptyFolder()
  await mkdir(join(folder, '.vscode'))
  await writeFile(join(folder, '.vscode/settings.json'), '// ours')
  expect((await espalier(['init', '--project', 'p'], {}, folder)).code).toBe(0)
  expect(await read(folder, '.vscode/settings.json')).toMatch(/^\/\/ ours\n\{[\s\S]*espalier\.schema\.json/)
})

test('init does not write a manifest if there is one with another default name', async () => {
  const folder = await emptyFolder()
  await mkdir(join(folder, 'espalier'))
  const { stdout } = await espalier(['init', '--project', 'p'], {}, folder)
  expect(stdout).toContain('exists         espalier;')
  await expect(read(folder, 'espalier.yaml')).rejects.toThrow()
})

test('init beside manifests says if a wrong key kept it from looking for undeclared projects', async () => {
  const folder = await emptyFolder()
  await writeFile(join(folder, 'espalier.yaml'), 'version: 1\nproject: p\n')
  const { code, stdout } = await espalier(
    ['init'],
    { ...environmentOf(two), ESPALIER_API_KEY: 'wrong-key-123' },
    folder,
  )
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /^not checked +whether every project is declared\. The control API does not accept the API key/m,
  )
  expect(stdout).not.toContain('wrong-key-123')
})

test('init quotes a project id that YAML would read as a number', async () => {
  const folder = await emptyFolder()
  await espalier(['init', '--project', '12345678', '--manifests-only'], {}, folder)
  expect((await espalier(['validate'], {}, folder)).code).toBe(0)
})

test('init --project accepts a project name', async () => {
  const folder = await emptyFolder()
  const flags = ['--project', 'billing', '--manifests-only']
  const { code, stderr } = await espalier(['init', ...flags], environmentOf(two), folder)
  expect(code, stderr).toBe(0)
  expect(await read(folder, 'espalier.yaml')).toMatch(/^project: amber-field-20000002$/m)
})

test('init and import write one file for each project of the key, and their combined plan is empty', async () => {
  for (const command of ['init', 'import']) {
    const folder = await emptyFolder()
    const { code, stdout, stderr } = await espalier([command], environmentOf(two), folder)
    expect(code, stderr).toBe(0)
    expect(stdout + stderr).toContain('espalier/billing.yaml: 2 computes')
    expect(stdout + stderr).toContain('not managed    see the end of espalier/orders.yaml')
    expect(await read(folder, 'espalier/orders.yaml')).toMatch(/^project: brave-harbor-20000001$/m)
    const planned = await espalier(['plan', '--detailed-exitcode'], environmentOf(two), folder)
    expect(planned.code, planned.stdout + planned.stderr).toBe(0)
    // A second run overwrites nothing.
    const again = await espalier(['import', '--project', '*'], environmentOf(two), folder)
    expect(again.stderr.replace(/\s+/g, ' ')).toContain(
      'exists espalier/billing.yaml, espalier/blog.yaml, espalier/docs.yaml, espalier/orders.yaml, espalier/search.yaml. To add live computes to the first, run `espalier import --project amber-field-20000002 --out espalier/billing.yaml`',
    )
  }
})

test('init and import exit with 1 if one of several projects cannot be imported', async () => {
  for (const command of ['init', 'import']) {
    const folder = await emptyFolder()
    two.control.addFault({
      on: 'request',
      method: 'GET',
      path: '/projects/amber-field-20000002/endpoints',
      effect: { kind: 'status', status: 403, message: 'no access' },
    })
    const { code, stdout, stderr } = await espalier([command], environmentOf(two), folder)
    expect(code, stderr).toBe(1)
    expect(stdout + stderr).toContain('amber-field-20000002')
    expect(await read(folder, 'espalier/orders.yaml')).toMatch(/^project: brave-harbor-20000001$/m)
  }
})

test('init and import say little about many projects, and declare their previews by rules', async () => {
  // Above 16 CU, the default scale-to-zero time has no effect, and must not become a difference.
  const compute = (id: string) => `{ id: ${id}, size: ${id === 'ep-7-0' ? 18 : 1}, state: idle }`
  const projects = Array.from({ length: 12 }, (_, index) => {
    const branches = ['main', 'preview/1', 'preview/2'].map(
      (name, at) => `{ name: ${name}, default: ${at === 0}, computes: [${compute(`ep-${index}-${at}`)}] }`,
    )
    return `  - { id: project-${index}, name: team-${index}, branches: [${branches.join(', ')}] }`
  })
  const many = await startSandbox({ seed: parseSeed(`projects:\n${projects.join('\n')}\n`, 'seed.yaml') })
  try {
    for (const command of ['init', 'import']) {
      const folder = await repository()
      const { code, stdout, stderr } = await espalier([command], environmentOf(many), folder)
      expect(code, stderr).toBe(0)
      const text = stdout + stderr
      expect(text.trimEnd().split('\n').length).toBeLessThan(20)
      expect(text).toContain('written        espalier/: 12 manifests with 36 computes; their plans are empty')
      expect(text).toMatch(/^inferred {7}in .* and 4 more: rule `preview\/\*` for 24 branches and future ones$/m)
      expect(await read(folder, 'espalier/team-7.yaml')).not.toContain('preview/1')
      const planned = await espalier(['plan', '--detailed-exitcode'], environmentOf(many), folder)
      expect(planned.code, planned.stdout + planned.stderr).toBe(0)
      // A second run says as little.
      const again = await espalier(['import'], environmentOf(many), folder)
      expect(again.stderr).toMatch(/^exists {9}espalier\/team-0\.yaml, .* and 4 more\. To add live computes/m)
    }
  } finally {
    await many.close()
  }
})

test('import reports a wrong base URL, not a key that cannot list projects', async () => {
  const wrong = { ...environmentOf(two), ESPALIER_BASE_URL: two.apiUrl.replace('/v2', '') }
  const { code, stderr } = await espalier(['import'], wrong, await emptyFolder())
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('E_BASE_URL') })
  expect(stderr).not.toContain('--project')
})

test('import writes the other projects if one project cannot be read', async () => {
  const folder = await emptyFolder()
  two.control.addFault({
    on: 'request',
    path: '/projects/amber-field-20000002/endpoints',
    effect: { kind: 'status', status: 403, message: 'no right to this project' },
    times: 0,
  })
  const { code, stderr } = await espalier(['import', '--out', 'fleet'], environmentOf(two), folder)
  two.control.clearFaults()
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('no right to this project') })
  expect(await read(folder, 'fleet/orders.yaml')).toContain('brave-harbor-20000001')
})
