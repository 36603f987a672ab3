/** The packed file, installed globally into an empty prefix: every command runs, without warnings. */
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { nodeBinary } from '../../scripts/node-binary.mjs'
import { COMMANDS } from '../../src/cli/commands/index.ts'

const SYSTEM = '/usr/bin:/bin'
const SEED = resolve('examples/quickstart/seed.yaml')

let tarball: string
beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-pack-'))
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  )
  tarball = join(folder, packed.filename)
})

/** A Node of this major version, or why there is none. */
const nodeOf = (major: number): { readonly node: string } | { readonly missing: string } => {
  try {
    return { node: nodeBinary(major) }
  } catch (error) {
    return { missing: `npm's package of Node ${major} cannot be installed: ${String(error).split('\n')[0]}` }
  }
}

/** Commands to run in this order, in a folder that contains the quickstart's manifest. */
const RUNS: readonly (readonly [args: string, says: RegExp, code?: number])[] = [
  ['--version', /^\d+\.\d+\.\d+\n$/],
  ['--help', /espalier <command>/],
  ['validate', /No problems in 1 file/],
  ['fmt --check', /^/],
  ['show --resolved espalier.yaml', /quiet-river-12345678/],
  ['explain E_SIZE', /E_SIZE/],
  ['explain sizes', /0\.25/],
  ['completion bash', /complete/],
  ['completion zsh', /compdef/],
  ['completion fish', /complete/],
  ['__complete pl', /plan/],
  ['plan --out plan.json', /Plan: 1 to create, 3 to update/],
  ['plan --html plan.html', /Plan: 1 to create/],
  ['plan --rehearse', /1 to create/],
  ['show plan.json', /Plan: 1 to create/],
  ['cost', /CU-hours/],
  ['snapshot --out live.json', /^/],
  ['plan --live live.json', /Plan: 1 to create/],
  ['apply plan.json --auto-approve', /Apply complete: 4 done/],
  ['plan', /No changes/],
  ['drift', /^/],
  ['status', /staging/],
  ['operations list', /apply_config/],
  ['compute restart main --yes', /main/],
  ['import --project quiet-river-12345678', /^# yaml-language-server/],
  ['init', /Next/],
  // No agent is running.
  ['agent status', /E_AGENT_UNREACHABLE/, 1],
  // The sandbox's computes are simulated.
  ['sandbox connect main', /E_NO_SANDBOX/, 1],
]

test('the runs in this file include every command', () => {
  const ran = new Set(RUNS.map(([args]) => args.split(' ')[0]))
  expect(COMMANDS.map(({ command }) => command.split(' ')[0]).filter((name) => !ran.has(name))).toEqual([])
})

test('the bill of materials lists bundled and installed packages, but no development dependencies', () => {
  const bom = JSON.parse(execFileSync(process.execPath, ['scripts/sbom.mjs'], { encoding: 'utf8', stdio: 'pipe' })) as {
    readonly bomFormat: string
    readonly metadata: { readonly component: { readonly name: string } }
    readonly components: readonly { readonly name: string; readonly purl: string }[]
  }
  expect(bom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'espalier' } } })
  const names = bom.components.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['yaml', 'undici', 'zod', 'pg', 'pg-protocol']))
  for (const tool of ['vitest', 'typescript', 'esbuild', '@biomejs/biome']) expect(names).not.toContain(tool)
  for (const { purl } of bom.components) expect(purl).toMatch(/^pkg:npm\//)
})

describe.each([20, 22, 24, 26])('the package on Node %i', (major) => {
  const found = nodeOf(major)

  test.skipIf('missing' in found)(
    'missing' in found ? found.missing : 'installs without a warning, and runs every command',
    { timeout: 300_000 },
    async () => {
      if ('missing' in found) return
      const home = mkdtempSync(join(tmpdir(), 'espalier-install-'))
      const prefix = join(home, 'prefix')
      const PATH = [dirname(found.node), SYSTEM].join(delimiter)
      const npmCli = join(execFileSync('npm', ['root', '-g'], { encoding: 'utf8' }).trim(), 'npm/bin/npm-cli.js')
      const npm = (...args: readonly string[]) =>
        promisify(execFile)(found.node, [npmCli, ...args], { env: { ...process.env, PATH } })
      // npm's warnings about this machine's settings do not count.
      const { stderr: usual } = await npm('config', 'get', 'prefix')
      const { stdout, stderr } = await npm('install', '--global', '--prefix', prefix, tarball)
      expect(stderr.replace(usual, '')).toBe('')
      expect(stdout).toMatch(/^\s*added \d+ packages/)
      expect(existsSync(join(prefix, 'share/man/man1/espalier.1'))).toBe(true)

      const folder = join(home, 'work')
      mkdirSync(folder)
      cpSync('examples/quickstart/espalier.yaml', join(folder, 'espalier.yaml'))
      const git = (...args: readonly string[]) =>
        execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], { cwd: folder })
      git('init', '--quiet')
      git('add', '.')
      git('commit', '--quiet', '--no-gpg-sign', '--message', 'all')
      const program = join(prefix, 'bin/espalier')
      const own = { PATH, HOME: home, XDG_RUNTIME_DIR: home }
      const sandbox = spawn(
        program,
        ['sandbox', 'serve', '--port', '0', '--computes', 'simulated', '--time-scale', '50', '--seed', SEED],
        { env: own, stdio: ['ignore', 'pipe', 'pipe'] },
      )
      onTestFinished(() => void sandbox.kill())
      const noise: string[] = []
      sandbox.stderr.setEncoding('utf8').on('data', (text: string) => noise.push(text))
      const api = await addressOf(sandbox.stdout)
      const env = { ...own, ...api }
      for (const [line, says, code = 0] of RUNS) {
        const ended = await promisify(execFile)(program, line.split(' '), { cwd: folder, env }).then(
          (output) => ({ code: 0, ...output }),
          (error: { code: number; stdout: string; stderr: string }) => error,
        )
        expect(ended.code, `${line}\n${ended.stdout}${ended.stderr}`).toBe(code)
        expect(`${ended.stdout}${ended.stderr}`, line).toMatch(says)
        expect(ended.stderr, line).not.toMatch(/warning/i)
      }
      expect(readFileSync(join(folder, 'plan.html'), 'utf8')).toContain('<html')
      sandbox.kill('SIGINT')
      await once(sandbox, 'close')
      expect(noise).toEqual([])
    },
  )
})

/** Keeps reading the output, because the sandbox stops when its output is closed. */
const addressOf = (stdout: Readable): Promise<Readonly<Record<string, string>>> =>
  new Promise((done, fail) => {
    let text = ''
    stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      const [, url, key] = /API {2}(\S+)\nKey {2}(\S+)\n/.exec(text) ?? []
      if (url !== undefined && key !== undefined) done({ ESPALIER_BASE_URL: url, ESPALIER_API_KEY: key })
    })
    stdout.on('end', () => fail(new Error(`The sandbox exited: ${text}`)))
  })
