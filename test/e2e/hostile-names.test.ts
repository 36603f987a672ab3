/** Hostile names from the service, and hostile environment variables. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { serveAgent } from '../../src/agent/index.ts'
import { tokenIn, writeAddress } from '../../src/cli/setup/agent-data.ts'
import { FakeControl, project, START } from '../agent/fake-control.ts'
import { longTest } from '../long-runs.ts'
import { UNSEEN } from '../report/names.ts'
import { type Served, serve } from '../serve.ts'
import { espalier, espalierAsProcess } from './espalier.ts'

const NAMES = [
  '\u001b[31mred\u001b]8;;https://evil.example\u0007',
  'a\r\nPlan: 0 to create, 0 to update, 0 to delete.',
  '\u202egnp.exe\u2066',
  '\u009b2J\u0000\u007f\u2028\ufeff',
  'zero\u200bwidth\u00ad\u3164\u{e0041}\ufe0f\u00a0',
  '@octocat <img src=x> [x](javascript:x) `|`',
  '__proto__',
  'constructor',
]

const serveHostile = (): Promise<Served> =>
  serve(({ url = '' }, response) => {
    const at = '2026-01-01T00:00:00Z'
    const branches = NAMES.map((name, index) => ({ id: `br-${index}`, name, default: index === 0, protected: false }))
    const endpoints = NAMES.map((name, index) => ({
      id: `ep-${index}`,
      branch_id: `br-${index}`,
      type: 'read_only',
      name,
      host: `host${name}`,
      current_state: name,
      pending_state: name,
      autoscaling_limit_min_cu: 1,
      autoscaling_limit_max_cu: 1,
      settings: { pg_settings: { [name]: name } },
      created_at: at,
      last_active: name,
    }))
    const operations = NAMES.map((name, index) => ({
      id: `op-${index}`,
      project_id: 'shop',
      action: name,
      status: name,
      failures_count: 0,
      error: name,
      created_at: at,
      updated_at: at,
    }))
    const whole = { project: { id: 'shop', name: NAMES[0] }, branches, endpoints, operations }
    response.end(JSON.stringify(url.includes('operations') ? { operations } : whole))
  })

const open = async (): Promise<{ readonly cwd: string; readonly env: Readonly<Record<string, string>> }> => {
  const cwd = mkdtempSync(join(tmpdir(), 'espalier-names-'))
  const text =
    'version: 1\nproject: shop\nprune: true\nrules:\n  - { match: "**", primary: { size: 1 }, replicas: { r: { size: 2 } } }\n'
  writeFileSync(join(cwd, 'espalier.yaml'), text)
  return {
    cwd,
    env: { ESPALIER_API_KEY: 'a-key', ESPALIER_BASE_URL: (await serveHostile()).origin, NO_COLOR: '1' },
  }
}

// promise: escaped-names
test('hostile names from the service are escaped in every output', async () => {
  const { cwd, env } = await open()
  const first = [
    ['plan', '--out', 'plan.json'],
    ['plan', '--format', 'json'],
    ['plan', '--format', 'markdown'],
    ['status'],
    ['status', '--format', 'json'],
    ['operations', 'list'],
    ['operations', 'list', '--format', 'json'],
    ['import', '--project', 'shop'],
    ['import', '--project', 'shop', '--branch', '{*gnp*,constructor,__proto__,@*}', '--out', 'imported.yaml'],
    ['compute', 'restart', 'no-such'],
    ['snapshot', '--out', 'live.json'],
  ]
  const second = [
    ['show', 'plan.json'],
    ['plan', '--live', 'live.json'],
  ]
  let shown = 0
  let everything = ''
  const run = async (args: readonly string[]): Promise<void> => {
    const { code, stdout, stderr } = await espalier(args, env, cwd)
    const said = stdout + stderr
    everything += said
    expect([0, 1], said).toContain(code)
    expect(said).not.toMatch(/bug in espalier/)
    expect(said).not.toMatch(/^Plan: 0 to create, 0 to update, 0 to delete\.,/m)
    expect({ args, raw: UNSEEN.exec(said)?.[0] }).toEqual({ args, raw: undefined })
    if (/\\u\{1b\}|\\u001b/.test(said)) shown += 1
  }
  for (const runs of [first, second]) await Promise.all(runs.map(run))
  expect(shown, everything).toBeGreaterThan(6)
  // Files are escaped too, and still parse to the same values.
  for (const name of ['imported.yaml', 'plan.json', 'live.json']) {
    const text = readFileSync(join(cwd, name), 'utf8')
    expect({ name, raw: UNSEEN.exec(text)?.[0] }).toEqual({ name, raw: undefined })
    if (name !== 'plan.json') expect(JSON.stringify(parse(text))).toContain(JSON.stringify(NAMES[2]).slice(1, -1))
  }
})

// promise: escaped-names
test('hostile names are escaped in the status of an agent', async () => {
  const data = mkdtempSync(join(tmpdir(), 'espalier-names-'))
  const [listen, write] = [{ host: '127.0.0.1', port: 0 }, await tokenIn(data, 'token')]
  const control = new FakeControl(NAMES.map((name, index) => project(`p-${index}`, { name, message: name })))
  const { source } = control.shown
  control.show(control.shown.projects, { source: { ...source, error: NAMES.join(' ') } })
  const log = (): void => undefined
  const server = await serveAgent(control, { listen, tokens: { read: write, write }, now: () => START, log })
  onTestFinished(() => server.close())
  await writeAddress(data, server.url)
  for (const format of ['terminal', 'json']) {
    const { stdout, stderr } = await espalier(['agent', 'status', '--data', data, '--format', format])
    for (const stream of [stdout, stderr]) expect(stream).not.toMatch(UNSEEN)
    if (format === 'json') expect(JSON.parse(stdout).projects[2].name).toBe(NAMES[2])
  }
})

const SETTINGS = [
  ['COLUMNS', '-1'],
  ['FORCE_COLOR', '\u001b'],
  ['TZ', ':::'],
  ['TMPDIR', '/nowhere'],
  ['ESPALIER_API_KEY', 'not a\u001bkey'],
  ['ESPALIER_BASE_URL', `http://${'a'.repeat(100_000)}`],
  ['PATH', '/nowhere'],
  ['GIT_DIR', '/nowhere'],
] as const

/** Variables that Node itself or a child process reads. */
const READ_BY_NODE: ReadonlySet<string> = new Set(['TZ', 'TMPDIR', 'PATH', 'GIT_DIR'])

// promise: arbitrary-flags
longTest('with a hostile environment variable, plan either prints a plan or fails with a message', async () => {
  const plan = async ([name, value]: (typeof SETTINGS)[number]) => {
    const { cwd, env } = await open()
    const base = name === 'PATH' || name === 'GIT_DIR' ? ['--base', 'HEAD'] : []
    const run = READ_BY_NODE.has(name) ? espalierAsProcess : espalier
    return { name, ...(await run(['plan', ...base], { ...env, [name]: value }, cwd)) }
  }
  for (const { name, code, stdout, stderr } of await Promise.all(SETTINGS.map(plan))) {
    expect([0, 1], name).toContain(code)
    const colours = stdout + stderr
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes start with one
    const said = name === 'FORCE_COLOR' ? colours.replace(/\u001b\[[\d;]*m/g, '') : colours
    expect(said, name).not.toMatch(/bug in espalier|^ {4}at /m)
    expect(UNSEEN.exec(said)?.[0], name).toBeUndefined()
    expect(said.length, name).toBeLessThan(20_000)
  }
})
