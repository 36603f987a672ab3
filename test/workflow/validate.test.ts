/** `validate` checks policies on declared values, and the limits of a declared tier, without the network. */
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { declaredPolicies, parseManifests } from '../../src/manifest/index.ts'
import { checkOffline } from '../../src/workflow/index.ts'
import { startInProcess } from '../in-process.ts'

const policy = (name: string, rule: string, more = '') =>
  `  - { name: ${name}, level: deny, reason: Because., ${more}rule: { ${rule} } }\n`

/** `LINE CODE` for each diagnostic. The manifest starts on line 3. */
const check = (manifest: string, ...policies: readonly string[]) => {
  const text = `version: 1\nproject: shop-1\n${manifest}\npolicy:\n${policies.join('')}`
  const loaded = parseManifests([{ path: 'espalier.yaml', text }])
  expect(loaded.diagnostics).toEqual([])
  const read = { files: ['espalier.yaml'], policies: declaredPolicies(loaded.desired) }
  const { diagnostics, undecided } = checkOffline({ loaded, paths: [], review: { policies: read } })
  return [...diagnostics.map(({ source, code }) => `${source?.line} ${code}`), ...undecided]
}

test.each([
  ['a size above the limit', 'branches:\n  main:\n    primary: { size: 4 }', policy('p', 'maxSize: 2'), ['5 E_POLICY']],
  ['a size within the limit', 'branches:\n  main:\n    primary: { size: 2 }', policy('p', 'maxSize: 2'), []],
  [
    'a value on its own line',
    'branches:\n  main:\n    primary:\n      size: 4\n      scaleToZero: 1h',
    policy('p', 'maxScaleToZero: 10m'),
    ['7 E_POLICY'],
  ],
  ['a missing size', 'branches:\n  main:\n    primary: {}', policy('p', 'maxSize: 2'), ['p']],
  ['another branch', 'branches:\n  main: { primary: { size: 4 } }', policy('p', 'maxSize: 2', 'branches: [dev], '), []],
  [
    'a branch id whose name is unknown',
    'branches:\n  br-1: { primary: { size: 4 } }',
    policy('p', 'maxSize: 2', 'branches: [dev], '),
    ['p'],
  ],
  [
    'a rule within the pattern',
    'rules:\n  - { match: "preview/*", primary: { size: 4 } }',
    policy('p', 'maxSize: 2', 'branches: ["preview/**"], '),
    ['4 E_POLICY'],
  ],
  [
    'a rule that may match other branches',
    'rules:\n  - { match: "*", primary: { size: 4 } }',
    policy('p', 'maxSize: 2', 'branches: ["preview/**"], '),
    ['p'],
  ],
  [
    'a rule that may match an exception of the policy',
    'rules:\n  - { match: "preview/*", primary: { size: 4 } }',
    policy('p', 'maxSize: 2', 'branches: ["preview/**"], except: ["preview/load-*"], '),
    ['p'],
  ],
  [
    "a pattern that may match the project's name",
    'branches: { main: { primary: { size: 4 } } }',
    policy('p', 'maxSize: 2', 'projects: ["web*"], '),
    ['p'],
  ],
  [
    "a pattern that matches the project's id",
    'branches: { main: { primary: { size: 4 } } }',
    policy('p', 'maxSize: 2', 'projects: ["shop*"], '),
    ['3 E_POLICY'],
  ],
  [
    '`scaleToZero: never`',
    'branches: { main: { primary: { scaleToZero: never } } }',
    policy('p', 'scaleToZero: required'),
    ['3 E_POLICY'],
  ],
  [
    'a missing restart window',
    'branches:\n  main:\n    primary: { size: 1 }',
    policy('p', 'restartWindow: required'),
    ['5 E_POLICY'],
  ],
  [
    "the service's maintenance window",
    'restartWindow: service\nbranches: { main: { primary: { size: 1 } } }',
    policy('p', 'restartWindow: required'),
    [],
  ],
  [
    'missing protection',
    'branches:\n  main: { primary: { size: 1 } }',
    policy('p', 'protect: required'),
    ['4 E_POLICY'],
  ],
  ['`prune: true`', 'prune: true', policy('p', 'prune: forbidden'), ['3 E_POLICY']],
  [
    'too many replicas',
    'branches:\n  main: { replicas: { a: {}, b: {} } }',
    policy('p', 'maxReplicas: 1'),
    ['4 E_POLICY'],
  ],
  ['fewer replicas than the limit', 'branches:\n  main: { replicas: { a: {} } }', policy('p', 'maxReplicas: 1'), ['p']],
  ['a limit on CU-hours', 'branches: { main: { primary: { size: 4 } } }', policy('p', 'maxCuHours: 600'), ['p']],
] as const)('validate reports the violated and undecided policies for %s', (_, manifest, rule, expected) => {
  expect(check(manifest, rule)).toEqual(expected)
})

const folderWith = async (files: Readonly<Record<string, string>>): Promise<string> => {
  const cwd = await mkdtemp(join(tmpdir(), 'espalier-validate-'))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, path)), { recursive: true })
    await writeFile(join(cwd, path), text)
  }
  return cwd
}
const MANIFEST = 'version: 1\nproject: shop\nbranches:\n  main: { primary: { size: 4, scaleToZero: 1m } }\n'
const POLICIES = `version: 1\npolicies:\n${policy('small', 'maxSize: 2')}${policy('cheap', 'maxCuHours: 600')}`

test('`espalier validate` reports violations with their lines, accepts overrides and lists the policies that only `plan` can check', async () => {
  const cwd = await folderWith({ 'espalier.yaml': MANIFEST, 'espalier.policy.yaml': POLICIES })
  const validate = (...args: readonly string[]) => startInProcess(['validate', ...args], { cwd }).ended
  const denied = await validate('--format', 'json')
  expect(denied.code).toBe(1)
  expect(JSON.parse(denied.stdout)).toMatchObject({
    diagnostics: [
      {
        code: 'E_POLICY',
        message: '`small` denies 4 CU for primary on main (at most 2 CU). Because.',
        file: 'espalier.yaml',
        line: 4,
      },
    ],
    checkedByPlan: ['cheap'],
  })
  expect((await validate()).stdout).toContain('\nOne policy depends on live values, which only plan checks: cheap.\n')
  expect(await validate('--override', 'small=a load test')).toMatchObject({
    code: 0,
    stdout: 'No problems in 1 file. One policy depends on live values, which only plan checks: cheap.\n',
  })
  expect(await validate('--override', 'smal=x')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Did you mean `small`?'),
  })
})

test('with a base, its policies apply: what it violates itself is only a warning, and a new or worse violation an error', async () => {
  const cwd = await folderWith({ 'espalier.yaml': MANIFEST })
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd })
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-qm', 'before the policy')
  await writeFile(join(cwd, 'espalier.policy.yaml'), POLICIES)
  const validate = (...args: readonly string[]) => startInProcess(['validate', ...args], { cwd }).ended
  expect(await validate()).toMatchObject({ code: 1, stdout: expect.stringContaining('E_POLICY') })
  await writeFile(join(cwd, 'espalier.yaml'), MANIFEST.replace('size: 4', 'size: 5'))
  expect(await validate('--base', 'HEAD')).toMatchObject({ code: 0, stdout: expect.stringContaining('W_POLICY') })
  await writeFile(join(cwd, 'espalier.policy.yaml'), 'version: 1\npolicies: []\n')
  git('add', '.')
  git('commit', '-qm', 'a file without policies')
  await writeFile(join(cwd, 'espalier.policy.yaml'), POLICIES)
  expect(await validate('--base', 'HEAD')).toMatchObject({ code: 0, stdout: expect.stringContaining('W_POLICY') })
  await writeFile(join(cwd, 'espalier.yaml'), MANIFEST)
  git('add', '.')
  git('commit', '-qm', 'the policy')
  expect(await validate('--base', 'HEAD')).toMatchObject({ code: 0, stdout: expect.stringContaining('W_POLICY') })
  await writeFile(join(cwd, 'espalier.yaml'), `${MANIFEST}  dev: { primary: { size: 3 } }\n`)
  const { code, stdout } = await validate('--base', 'HEAD', '--format', 'json')
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code: string; line: number }[] }
  expect([code, ...diagnostics.map((one) => `${one.line} ${one.code}`)]).toEqual([1, '4 W_POLICY', '5 E_POLICY'])
  await writeFile(join(cwd, 'espalier.yaml'), MANIFEST.replace('size: 4', 'size: 5'))
  expect(await validate('--base', 'HEAD')).toMatchObject({ code: 1, stdout: expect.stringContaining('E_POLICY') })
  await rm(join(cwd, 'espalier.policy.yaml'))
  expect(await validate()).toMatchObject({ code: 0 })
  expect(await validate('--base', 'HEAD')).toMatchObject({ code: 1, stdout: expect.stringContaining('E_POLICY') })
})

test('`tier` in a manifest or a shared file is the account plan whose limits are checked', async () => {
  const tiers = { 'free.yaml': 'free', 'scale.yaml': 'scale', 'gold.yaml': 'gold', 'none.yaml': 'none' }
  const cwd = await folderWith({
    'shared.yaml': 'version: 1\ntier: free\n',
    'shop.yaml': `${MANIFEST}extends: shared.yaml\n`,
    ...Object.fromEntries(Object.entries(tiers).map(([file, tier]) => [file, `${MANIFEST}tier: ${tier}\n`])),
  })
  const validate = (file: string) => startInProcess(['validate', file], { cwd }).ended
  for (const file of ['free.yaml', 'shop.yaml']) {
    const { code, stdout } = await validate(file)
    expect(code).toBe(1)
    expect(stdout).toMatch(new RegExp(`E_TIER_LIMIT.*${file}:4:|${file}:4:.*E_TIER_LIMIT`, 's'))
    expect(stdout).toContain('scaleToZero')
  }
  expect((await validate('scale.yaml')).code).toBe(0)
  expect((await validate('none.yaml')).code).toBe(0)
  expect(await validate('gold.yaml')).toMatchObject({ code: 1, stdout: expect.stringContaining('`tier`') })
})

test('policies and prices in a shared file apply to the projects that extend it', async () => {
  const cwd = await folderWith({
    'shared.yaml': `version: 1\nprice: { cuHour: 0.2, currency: USD }\nskipExpiring: 2h\npolicy:\n${policy('small', 'maxSize: 2')}`,
    'a.yaml': 'version: 1\nproject: one\nextends: shared.yaml\nbranches: { main: { primary: { size: 4 } } }\n',
    'b.yaml': 'version: 1\nproject: two\nbranches: { main: { primary: { size: 4 } } }\n',
  })
  const { stdout } = await startInProcess(['validate', '--format', 'json', 'a.yaml', 'b.yaml'], { cwd }).ended
  expect(JSON.parse(stdout).diagnostics).toMatchObject([{ code: 'E_POLICY', file: 'a.yaml' }])
  const shown = await startInProcess(['show', '--resolved', 'a.yaml'], { cwd }).ended
  expect(shown.stdout).toContain('price: { cuHour: 0.2, currency: USD } # shared.yaml:2')
  expect(shown.stdout).toContain('skipExpiring: 2h # shared.yaml:3')
  expect(shown.stdout).toContain('rule: { maxSize: 2 }')
})

test('a policy file among the manifests is not read as a manifest, and is reported if it is not used', async () => {
  const cwd = await folderWith({ 'espalier/a.yaml': MANIFEST, 'espalier/policies.yaml': POLICIES })
  const validate = (...args: readonly string[]) => startInProcess(['validate', ...args], { cwd }).ended
  expect(await validate()).toMatchObject({
    code: 0,
    stderr: 'Note  espalier/policies.yaml is a policy file, but is not used. To use it, pass --policy.\n',
  })
  expect(await validate('--policy', 'espalier/policies.yaml')).toMatchObject({ code: 1, stderr: '' })
})

test.each([
  ['rule: { maxSize: -1 }', '`maxSize` must be above 0 and at most 100000.', '4:24'],
  ['rule: { maxReplicas: -1 }', '`maxReplicas` must be at least 0.', '4:28'],
])('an error in a policy file is reported with its line: %s', async (rule, message, place) => {
  const policies = `version: 1\npolicies:\n  - { name: a, level: deny, reason: r,\n      ${rule} }\n`
  const cwd = await folderWith({ 'espalier.yaml': MANIFEST, 'espalier.policy.yaml': policies })
  const { code, stdout, stderr } = await startInProcess(['validate'], { cwd }).ended
  expect(code).toBe(1)
  expect(stdout + stderr).toContain(`espalier.policy.yaml:${place}  error  E_VALUE  ${message}\n 4 |       ${rule} }\n`)
})

test.each(['validate', 'status'])('without manifests, `%s` suggests `init`', async (command) => {
  const env = { ESPALIER_API_KEY: 'key', ESPALIER_BASE_URL: 'http://127.0.0.1:1/api/v2' }
  const { code, stderr } = await startInProcess([command], { cwd: await folderWith({}), env }).ended
  expect(code).toBe(1)
  expect(stderr).toContain('To write manifests for your live projects, run `espalier init`.')
})
