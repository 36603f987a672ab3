/** Runs every example of every command's help unchanged, with a shell where the example needs one. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands/index.ts'
import { parseSeed, type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { type Ended, ROOT, start } from '../e2e/espalier.ts'
import { EVERY_COMMAND } from '../every-command.ts'

const PROJECT = 'quiet-river-12345678'

let sandbox: Sandbox
/** The state that the seed creates. */
let world: ReturnType<Sandbox['control']['dump']>
/** Folder that contains the program as `espalier`. */
let bin: string
let template: string
beforeAll(async () => {
  template = await makeTemplate()
  const seed = await readFile(join(ROOT, 'examples/quickstart/seed.yaml'), 'utf8')
  // Otherwise, the fast clock would suspend this compute between two lines of a test.
  const awake = seed.replace('size: 0.5\n', 'size: 0.5\n            scaleToZero: never\n')
  sandbox = await startSandbox({ seed: parseSeed(awake, 'seed.yaml'), timeScale: 50 })
  world = sandbox.control.dump()
  bin = await mkdtemp(join(tmpdir(), 'espalier-bin-'))
  await writeFile(join(bin, 'espalier'), `#!/bin/sh\nexec "${process.execPath}" "${ROOT}/dist/main.js" "$@"\n`)
  await chmod(join(bin, 'espalier'), 0o755)
})
afterAll(() => sandbox.close())

interface Exception {
  /** Appended to the example. */
  readonly more?: string
  readonly code?: number
  /** Expected output. An example that would not end is interrupted after this output. */
  readonly says?: string
  readonly goesOn?: boolean
  /** The example cannot run here; path of the test that covers it. */
  readonly elsewhere?: string
}

/** All other examples exit with 0. */
const EXCEPTIONS: Readonly<Record<string, Exception>> = {
  'espalier plan --detailed-exitcode': { code: 2 },
  'espalier drift': { code: 2, says: 'The live compute changed' },
  'espalier drift --base v1.4': { code: 2, says: 'The live compute changed' },
  // Without a terminal, no prompt can be answered.
  'espalier apply': { code: 1, says: 'Use --auto-approve' },
  'espalier apply --base origin/main --introduced': { code: 1, says: 'Use --auto-approve' },
  'espalier apply --html apply.html': { code: 1, says: 'Use --auto-approve' },
  'espalier apply plan.json': { code: 1, says: 'Use --auto-approve' },
  'espalier apply --sandbox=seed.yaml': { code: 1, says: 'Use --auto-approve' },
  ...Object.fromEntries(
    ['start', 'suspend', 'restart', 'delete'].map((name) => [`espalier compute ${name} staging`, { more: '--yes' }]),
  ),
  'espalier init': { says: 'its plan is empty' },
  'espalier status --watch': { says: 'staging', goesOn: true },
  'espalier operations watch --branch main': { says: 'OPERATION', goesOn: true },
  'espalier sandbox serve': { more: '--port 0 --computes simulated', says: 'Key', goesOn: true },
  'espalier sandbox serve --seed seed.yaml': { more: '--port 0 --computes simulated', says: 'Key', goesOn: true },
  'espalier sandbox serve --port 0 --state .espalier/sandbox': {
    more: '--computes simulated',
    says: 'Key',
    goesOn: true,
  },
  'espalier agent run --repo . --once': { code: 2, says: 'Unrecorded' },
  'espalier agent run --repo . --sandbox=seed.yaml': {
    more: '--listen 127.0.0.1:0',
    says: 'Page',
    goesOn: true,
  },
  ...Object.fromEntries(
    [
      'run --repo https://github.com/acme/db',
      'run /etc/espalier',
      'status',
      'status quiet-river-12345678',
      'reconcile quiet-river-12345678',
      'adopt quiet-river-12345678',
      'adopt quiet-river-12345678 --commit 0123456789ab',
      'suspend --all --for 2h --reason "load test"',
      'resume --all',
    ].map((line) => [`espalier agent ${line}`, { elsewhere: 'test/e2e/agent.test.ts' }]),
  ),
  'espalier sandbox connect main': { elsewhere: 'test/long/sandbox.test.ts' },
  'espalier sandbox connect main --psql': { elsewhere: 'test/long/sandbox.test.ts' },
  'psql "$(espalier sandbox connect main/reporting)"': { elsewhere: 'test/long/sandbox.test.ts' },
  'source <(espalier completion zsh)': { elsewhere: 'test/e2e/help.test.ts' },
}

const LINES = [
  ...new Set(
    [...EVERY_COMMAND, ...COMMANDS.filter((entry) => 'subcommands' in entry)].flatMap(({ examples }) =>
      examples.map(([line]) => line.replaceAll('$0', 'espalier')),
    ),
  ),
]

/** Everything that the examples refer to: manifests, a seed, a git history. */
const makeTemplate = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-example-'))
  const copy = (from: string, to: string) => cp(join(ROOT, from), join(folder, to), { recursive: true })
  await copy('examples/quickstart/seed.yaml', 'seed.yaml')
  await copy('examples/fleet/projects', 'fleet/projects')
  await copy('examples/fleet/platform.yaml', 'fleet/platform.yaml')
  await copy('examples/fleet/staged.yaml', 'fleet/staged.yaml')
  await mkdir(join(folder, 'more'))
  await mkdir(join(folder, '.config/fish/completions'), { recursive: true })
  const manifest = `version: 1\nproject: ${PROJECT}\nbranches:\n  main: { primary: { scaleToZero: never } }\n  staging: { primary: { size: 1 } }\n`
  await writeFile(join(folder, 'espalier.yaml'), manifest)
  await writeFile(join(folder, 'more/a.yaml'), `version: 1\nproject: late-sun-87654321\n`)
  await writeFile(join(folder, 'fleet.yaml'), `# ours\n${manifest}`)
  const git = (...args: readonly string[]) =>
    execFileSync(
      'git',
      ['-c', 'user.name=x', '-c', 'user.email=x@example.com', '-c', 'commit.gpgsign=false', ...args],
      {
        cwd: folder,
        stdio: 'ignore',
      },
    )
  git('init', '-q', '-b', 'main')
  git('add', '-A')
  git('commit', '-q', '-m', 'all')
  git('tag', 'v1.4')
  git('update-ref', 'refs/remotes/origin/main', 'HEAD')
  return folder
}

const prepare = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-example-'))
  cpSync(template, folder, { recursive: true })
  return folder
}

/** @param until output after which the example is interrupted. */
const run = async (line: string, folder: string, until?: string): Promise<Ended> => {
  const env = { HOME: folder, ESPALIER_BASE_URL: sandbox.apiUrl, ESPALIER_API_KEY: sandbox.apiKey }
  const args = argumentsOf(line)
  if (args === undefined) return runByShell(line, folder, env)
  const running = start(args, env, folder)
  if (until !== undefined) {
    await running.says(until)
    running.interrupt()
  }
  return running.ended
}

/** `undefined` for an example that needs a shell: redirections, substitutions, globs. */
const argumentsOf = (line: string): readonly string[] | undefined => {
  const [program, ...words] = [...line.matchAll(/'([^']*)'|(\S+)/g)]
  const isForShell = words.some(([, , bare = '']) => /[<>$`"*?~|&;()\\]/.test(bare))
  if (program?.[0] !== 'espalier' || isForShell) return undefined
  return words.map(([, quoted, bare]) => quoted ?? bare ?? '')
}

const runByShell = async (line: string, folder: string, env: Readonly<Record<string, string>>): Promise<Ended> => {
  const child = spawn('bash', ['-c', line], {
    cwd: folder,
    env: { PATH: `${bin}:${process.env.PATH}`, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: code as number | null, stdout, stderr }
}

/** Starts a suspend, for which the example waits. */
const anOperation = async (folder: string): Promise<string> => {
  await run('espalier compute suspend staging --yes', folder)
  const { stdout } = await run('espalier operations list --format json', folder)
  return (JSON.parse(stdout.split('\n')[0] ?? '') as { id: string }).id
}

describe('the examples in the help', () => {
  test('include at least one for each command', () => {
    expect(EVERY_COMMAND.filter(({ examples }) => examples.length === 0)).toEqual([])
    expect(Object.keys(EXCEPTIONS).filter((line) => !LINES.includes(line))).toEqual([])
  })

  test.each(LINES.filter((line) => EXCEPTIONS[line]?.elsewhere === undefined))('can be run: %s', async (line) => {
    const { more = '', code = 0, says = '', goesOn = false } = EXCEPTIONS[line] ?? {}
    const folder = await prepare()
    if (line.includes('plan.json')) await run('espalier plan --out plan.json', folder)
    if (line.includes('live.json')) await run('espalier snapshot --out live.json', folder)
    if (line === 'espalier init') execFileSync('rm', ['espalier.yaml'], { cwd: folder })
    sandbox.control.load(world)
    const full = `${line} ${more}`.replace(/\bID\b/, line.includes(' ID ') ? await anOperation(folder) : '')
    const ended = await run(full, folder, goesOn ? says : undefined)
    if (!goesOn) expect(ended.code, ended.stdout + ended.stderr).toBe(code)
    expect((ended.stdout + ended.stderr).replace(/\s+/g, ' ')).toContain(says)
  })
})
