import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, onTestFinished, test } from 'vitest'
import { EXPLANATIONS } from '../../src/model/explanations.ts'
import { parseSeed, readFaults, readSeed, seedSchema, startSandbox } from '../../src/sandbox/index.ts'
import { caller, openSandbox, SEED } from './open-sandbox.ts'

const FULL = `
projects:
  - id: quiet-river-12345678
    name: shop
    region: aws-us-east-2
    plan: paid
    defaults: { size: { min: 1, max: 4 }, scaleToZero: 10m }
    operations: 3
    branches:
      - id: br-some-branch-1
        name: main
        default: true
        protected: true
        computes:
          - id: ep-some-compute-1
            type: read_write
            name: primary
            size: { min: 1, max: 8 }
            scaleToZero: 1h30m
            state: idle
            postgres: { settings: { work_mem: 64MB }, preload: [pg_cron] }
          - { type: read_only, size: 18, scaleToZero: never }
      - name: preview/1
        parent: main
        computes: [{ disabled: true }]
`

test('a seed defines projects, branches and computes', async () => {
  const { call } = await openSandbox({ seed: parseSeed(FULL, 'seed.yaml') })
  const P = '/projects/quiet-river-12345678'
  expect((await call('GET', P)).body.project).toMatchObject({
    name: 'shop',
    region_id: 'aws-us-east-2',
    default_endpoint_settings: {
      autoscaling_limit_min_cu: 1,
      autoscaling_limit_max_cu: 4,
      suspend_timeout_seconds: 600,
    },
  })
  expect((await call('GET', `${P}/branches?sort_by=name&sort_order=asc`)).body.branches).toMatchObject([
    { id: 'br-some-branch-1', name: 'main', default: true, protected: true },
    { name: 'preview/1', parent_id: 'br-some-branch-1', default: false, protected: false },
  ])
  expect((await call('GET', `${P}/endpoints`)).body.endpoints).toMatchObject([
    {
      id: 'ep-some-compute-1',
      host: 'ep-some-compute-1.us-east-2.aws.neon.tech',
      name: 'primary',
      autoscaling_limit_min_cu: 1,
      autoscaling_limit_max_cu: 8,
      suspend_timeout_seconds: 5_400,
      current_state: 'idle',
      settings: { pg_settings: { work_mem: '64MB' }, preload_libraries: { enabled_libraries: ['pg_cron'] } },
    },
    { type: 'read_only', autoscaling_limit_min_cu: 18, suspend_timeout_seconds: -1, current_state: 'active' },
    { type: 'read_write', disabled: true, current_state: 'idle', suspend_timeout_seconds: 0 },
  ])
  expect((await call('GET', `${P}/operations`)).body.operations).toHaveLength(3)
})

test('the same seed produces the same ids', async () => {
  const idsOf = async () => {
    const { call } = await openSandbox({ seed: parseSeed(FULL, 'seed.yaml') })
    const lists = ['branches', 'endpoints', 'operations'].map(async (list) => {
      const { body } = await call('GET', `/projects/quiet-river-12345678/${list}`)
      return body[list].map(({ id }: { id: string }) => id)
    })
    return (await Promise.all(lists)).flat()
  }
  const ids = await idsOf()
  expect(ids).toHaveLength(8)
  expect(new Set(ids).size).toBe(8)
  expect(await idsOf()).toEqual(ids)
})

test('the first branch is the default if none is marked', async () => {
  const { call } = await openSandbox({
    seed: { projects: [{ id: 'some-project-1', branches: [{ name: 'a' }, { name: 'b' }] }] },
  })
  const { body } = await call('GET', '/projects/some-project-1/branches?sort_by=name&sort_order=asc')
  expect(body.branches.map((branch: { default: boolean }) => branch.default)).toEqual([true, false])
})

const inBranch = (compute: string): string =>
  `projects:\n  - id: some-project-1\n    branches:\n      - name: main\n        computes:\n          - ${compute}\n`

test.each([
  ['', 's.yaml:1:1: the file:'],
  ['projects: [', 's.yaml:1:'],
  ['projects: []\nprojects: []', 's.yaml:2:1: The key `projects` is already set on line 1.'],
  ['projects: *nothing', 's.yaml:1:11: No anchor `nothing` precedes this alias.'],
  ['projects: []\n---\nprojects: []', 's.yaml:3:1: only one document is allowed'],
  ['projects:\n  - id: Not An Id\n    branches: [{ name: main }]', 's.yaml:2:9: projects[0].id:'],
  ['projects:\n  - id: some-project-1', 's.yaml:2:5: projects[0].branches: is required'],
  [
    'projects:\n  - id: some-project-1\n    branches: []',
    's.yaml:3:15: projects[0].branches: must have at least 1 item',
  ],
  ['projects: []\nkeys: [{ kind: personal, key: short }]', 'keys[0].key: must have 8 to 256 characters'],
  [
    'projects: []\nkeys: [{ kind: owner, key: long-enough }]',
    'keys[0].kind: must be `personal`, `organization` or `project`',
  ],
  ['projects: {}', 's.yaml:1:11: projects: must be a list'],
  ['projects: []\nmore: 1', 's.yaml:1:1: the file: unknown key `more`'],
  [
    inBranch('{ size: 3.5 }'),
    's.yaml:6:21: projects[0].branches[0].computes[0].size: 3.5 CU is not a valid compute size',
  ],
  [
    inBranch('{ size: big }'),
    's.yaml:6:21: projects[0].branches[0].computes[0].size: must be a number of compute units',
  ],
  [
    inBranch('{ size: { min: 1, max: 16 } }'),
    's.yaml:6:21: projects[0].branches[0].computes[0].size: the autoscaling range',
  ],
  [
    inBranch('{ size: 18, scaleToZero: 5m }'),
    'computes[0].scaleToZero: computes above 16 CU cannot scale to zero: set it to `never` or `default`',
  ],
  [
    inBranch('{ scaleToZero: 300 }'),
    's.yaml:6:28: projects[0].branches[0].computes[0].scaleToZero: must be `default`, `never`',
  ],
  [
    inBranch('{ scaleToZero: 5 minutes }'),
    's.yaml:6:28: projects[0].branches[0].computes[0].scaleToZero: must be `default`',
  ],
  [
    inBranch('{ scaleToZero: 10s }'),
    's.yaml:6:28: projects[0].branches[0].computes[0].scaleToZero: 10s is not allowed: use `never`, `default` or 1m to 7d',
  ],
  [inBranch('{ state: asleep }'), 's.yaml:6:22: projects[0].branches[0].computes[0].state:'],
  [inBranch('{ id: compute-1 }'), 's.yaml:6:19: projects[0].branches[0].computes[0].id:'],
  [inBranch('{ sise: 1 }'), 's.yaml:6:13: projects[0].branches[0].computes[0]: unknown key `sise`'],
  [
    inBranch('{}\n          - {}'),
    's.yaml:7:13: projects[0].branches[0].computes[1]: a branch can have only one read_write compute',
  ],
  [inBranch('{ id: ep-a-b-1 }\n      - { name: two, computes: [{ id: ep-a-b-1 }] }'), 'the id ep-a-b-1 is used twice'],
  [inBranch('{}\n      - name: main'), 's.yaml:7:15: projects[0].branches[1].name: two branches are named main'],
  [inBranch('{}\n      - { name: b, parent: nobody }'), 'no earlier branch is named nobody'],
])('the seed %j is rejected with: %s', (text, message) => {
  expect(() => parseSeed(text, 's.yaml')).toThrow(
    expect.objectContaining({ code: 'E_SEED', message: expect.stringContaining(message), hint: expect.any(String) }),
  )
})

test('every mistake in a seed is reported on its own line', () => {
  const text = inBranch('{ size: 3.5 }\n          - { type: read_only, size: 17 }')
  expect(() => parseSeed(text, 's.yaml')).toThrow(/^s\.yaml:6:21: .*\ns\.yaml:7:38: .*$/)
})

test('a seed with an alias bomb is rejected', () => {
  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]']
  for (let depth = 1; depth < 9; depth += 1) {
    const [before, name] = [String.fromCharCode(96 + depth), String.fromCharCode(97 + depth)]
    bomb.push(`${name}: &${name} [${Array(9).fill(`*${before}`).join(', ')}]`)
  }
  expect(() => parseSeed(bomb.join('\n'), 's.yaml')).toThrow(
    expect.objectContaining({ code: 'E_SEED', message: expect.stringContaining('aliases') }),
  )
})

test('a seed that a program passes as a value is checked too', async () => {
  const wrong = startSandbox({
    seed: { projects: [{ id: 'p', branches: [{ name: 'm', computes: [{ size: 3.5 }] }] }] },
  })
  await expect(wrong).rejects.toMatchObject({ code: 'E_SEED', message: expect.stringContaining('3.5 CU') })
})

// hint: For the format, run `espalier explain E_SEED`.
test('explain E_SEED shows a valid seed and valid faults', async () => {
  expect(() => parseSeed('projects: 1', 's.yaml')).toThrow(
    expect.objectContaining({ hint: 'For the format, run `espalier explain E_SEED`.' }),
  )
  const { example = '' } = EXPLANATIONS.E_SEED ?? {}
  const [seed = '', faults = ''] = example.split('# A fault file\n')
  expect(parseSeed(seed, 's.yaml').projects).toHaveLength(1)
  const folder = await mkdtemp(join(tmpdir(), 'espalier-faults-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'faults.yaml'), faults)
  expect(await readFaults(join(folder, 'faults.yaml'))).toHaveLength(2)
  await writeFile(join(folder, 'faults.yaml'), 'faults: []')
  await expect(readFaults(join(folder, 'faults.yaml'))).rejects.toMatchObject({
    hint: expect.stringContaining('explain E_SEED'),
  })
})

test('readSeed reads a seed file, and the error for a missing file names it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-seed-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'seed.yaml'), FULL)
  expect(await readSeed(join(folder, 'seed.yaml'))).toEqual(parseSeed(FULL, ''))
  await expect(readSeed(join(folder, 'none.yaml'))).rejects.toMatchObject({
    code: 'E_SEED',
    message: expect.stringContaining('none.yaml'),
  })
})

test('a sandbox without a seed has no projects', async () => {
  const sandbox = await startSandbox()
  onTestFinished(() => sandbox.close())
  expect((await caller(sandbox)('GET', '/projects')).body.projects).toEqual([])
})

test('the JSON Schema accepts valid seeds and rejects invalid ones', () => {
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(seedSchema())
  expect(validate(SEED)).toBe(true)
  expect(validate({ projects: [{ id: 'x', branches: [{ name: 'main', computes: [{ sise: 1 }] }] }] })).toBe(false)
})
