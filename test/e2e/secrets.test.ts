/** The key is sent only to the control API. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createReadApi } from '../../src/api/index.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { makeAuthority } from '../hostile/certificates.ts'
import { openProxy, serveTls } from '../hostile/servers.ts'
import { serve } from '../serve.ts'
import { espalier, espalierAsProcess } from './espalier.ts'

const KEY = 'napi_h0stile/key+0123456789abcdef'
const FORMS = [KEY, encodeURIComponent(KEY), Buffer.from(KEY).toString('base64'), Buffer.from(KEY).toString('hex')]
const MANIFEST = 'version: 1\nproject: shop\nbranches:\n  main: { primary: { size: 4 } }\n'

const folder = (): string => mkdtempSync(join(tmpdir(), 'espalier-secrets-'))

const openSandbox = async (): Promise<Sandbox> => {
  const sandbox = await startSandbox({
    seed: { projects: [{ id: 'shop', branches: [{ name: 'main', computes: [{ id: 'ep-main', size: 1 }] }] }] },
    apiKey: KEY,
    timeScale: 500,
  })
  onTestFinished(() => sandbox.close())
  return sandbox
}

/** Wrappers for these programs that record their environment and arguments before they run the original. */
const spyOn = (scratch: string, names: readonly string[]): string => {
  const programs = join(scratch, 'programs')
  mkdirSync(programs)
  for (const name of names) {
    const real = name === 'psql' ? 'true' : execFileSync('which', [name], { encoding: 'utf8' }).trim()
    const file = join(programs, name)
    writeFileSync(file, `#!/bin/sh\n{ env; echo "$@"; } >> '${scratch}/${name}.seen'\nexec ${real} "$@"\n`)
    chmodSync(file, 0o755)
  }
  return `${programs}:${process.env.PATH}`
}

const allFiles = (root: string): readonly (readonly [string, string])[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'latin1')] as const)

const expectNoKey = (texts: readonly (readonly [string, string])[]): void => {
  const leaks = texts.filter(([, text]) => FORMS.some((form) => text.includes(form))).map(([name]) => name)
  expect(leaks).toEqual([])
}

// promise: secrets, key-in-output
test('no command leaks the key into its output, files or child processes, even with --debug', async () => {
  const sandbox = await openSandbox()
  const scratch = folder()
  const cwd = join(scratch, 'work')
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'espalier.yaml'), MANIFEST)
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    ['commit', '-qm', 'base'],
  ]) {
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], { cwd })
  }
  const env = {
    ESPALIER_API_KEY: KEY,
    NEON_API_KEY: KEY,
    ESPALIER_BASE_URL: sandbox.apiUrl,
    NODE_DEBUG: 'undici,http,net,tls,fetch',
    PATH: spyOn(scratch, ['git', 'ps']),
    TMPDIR: scratch,
  }
  // The commands of each row run after those of the row above.
  const rows = [
    [
      ['validate', '--debug', '--format', 'json'],
      ['plan', '--debug', '--out', 'plan.json', '--base', 'HEAD'],
      ['plan', '--format', 'markdown', '--rehearse'],
      ['drift', '--debug'],
      ['snapshot', '--out', 'live.json'],
      ['import', '--project', 'shop', '--out', 'imported.yaml'],
      ['plan', '--project', 'misused'],
    ],
    [
      ['show', 'plan.json'],
      ['plan', '--live', 'live.json'],
      ['plan', '--html', 'plan.html'],
      ['apply', 'plan.json', '--debug', '--auto-approve', '--journal', 'journal.ndjson', '--format', 'json'],
    ],
    [
      ['apply', '--debug', '--auto-approve', '--journal', 'second.ndjson', '--html', 'report.html'],
      ['status', '--format', 'json'],
      ['operations', 'list'],
    ],
    [['compute', 'restart', 'main', '--auto-approve']],
  ]
  const said: (readonly [string, string])[] = []
  const run = async (args: readonly string[]): Promise<void> => {
    // Node's debug output needs a process of its own.
    const asProcess = args.includes('--base') || args[1] === 'plan.json'
    const { stdout, stderr } = await (asProcess ? espalierAsProcess : espalier)(args, env, cwd)
    said.push([`${args.join(' ')} > stdout`, stdout], [`${args.join(' ')} > stderr`, stderr])
  }
  for (const row of rows) await Promise.all(row.map(run))
  const files = allFiles(scratch)
  expect(files.map(([name]) => name.replace(`${scratch}/`, ''))).toEqual(
    expect.arrayContaining([
      'git.seen',
      'work/plan.json',
      'work/live.json',
      'work/imported.yaml',
      'work/journal.ndjson',
      'work/plan.html',
      'work/report.html',
    ]),
  )
  // Checks that the runs had an effect: one changed the compute, and child processes were recorded.
  expect(said.find(([name]) => name.startsWith('plan --debug') && name.endsWith('stdout'))?.[1]).toContain('1 → 4 CU')
  expect(readFileSync(join(cwd, 'journal.ndjson'), 'utf8')).toContain('step-end')
  expect(readFileSync(join(scratch, 'git.seen'), 'utf8')).toMatch(/^TMPDIR=/m)
  expectNoKey([...said, ...files])
})

// promise: key-in-children
test('psql does not receive the key', async () => {
  const scratch = folder()
  const { port } = await serve((_request, response) => {
    const address = { host: '127.0.0.1', port: 5432, sharedPort: 5433 }
    const compute = {
      id: 'ep-main',
      projectId: 'shop',
      branch: 'main',
      type: 'read_write',
      uri: 'postgres://x',
      pooledUri: 'postgres://x',
      address,
    }
    response.end(JSON.stringify({ computes: [compute] }))
  })
  const registry = join(scratch, `espalier-sandboxes-${process.getuid?.() ?? 'user'}`)
  mkdirSync(registry, { mode: 0o700 })
  const sandbox = { pid: process.pid, port, controlUrl: `http://127.0.0.1:${port}`, controlToken: 'token' }
  writeFileSync(join(registry, `${port}.json`), JSON.stringify(sandbox))
  const env = { ESPALIER_API_KEY: KEY, NEON_API_KEY: KEY, PATH: spyOn(scratch, ['psql']), TMPDIR: scratch }
  const ended = await espalierAsProcess(['sandbox', 'connect', 'ep-main', '--psql'], env, scratch)
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  const seen = readFileSync(join(scratch, 'psql.seen'), 'utf8')
  expect(seen).toMatch(/^TMPDIR=/m)
  expectNoKey([['psql', seen]])
})

// promise: key-in-children
test('no child process inherits the whole environment', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const starting = sources
    .map((name) => [name, readFileSync(join('src', name), 'utf8')] as const)
    .filter(([, text]) => text.includes("from 'node:child_process'"))
  expect(starting.length).toBeGreaterThan(4)
  for (const [name, text] of starting) {
    const starts = text.match(/(?<![#.\w])(?:spawn|run|execFileSync)\(|promisify\(execFile\)\(/g) ?? []
    expect(starts.length, name).toBeGreaterThan(0)
    expect(text.match(/\benv:/g)?.length ?? 0, name).toBeGreaterThanOrEqual(starts.length)
    expect(text, name).not.toMatch(/\.\.\.process\.env\b|env: process\.env\b/)
  }
})

// promise: key-in-answer
test('a key that the server returns is not printed, whatever the status', async () => {
  const plan = async (status: number) => {
    const { port } = await serve(({ headers }, response) => {
      const token = headers.authorization?.replace('Bearer ', '') ?? ''
      response.writeHead(status, {
        'content-type': 'application/json',
        'x-neon-ret-request-id': token,
        location: `http://${token}.example/${token}`,
      })
      response.end(JSON.stringify({ message: `no good: ${token}`, code: token, request_id: token, projects: [token] }))
    })
    const cwd = folder()
    writeFileSync(join(cwd, 'espalier.yaml'), MANIFEST)
    const env = { ESPALIER_API_KEY: KEY, ESPALIER_BASE_URL: `http://127.0.0.1:${port}/api/v2` }
    return espalier(['plan', '--debug'], env, cwd)
  }
  for (const { code, stdout, stderr } of await Promise.all([200, 302, 401, 404, 422].map(plan))) {
    expect(code).toBe(1)
    expect(stderr).toMatch(/^error {2}E_\w+ {2}(?:.* )?[Tt]he control API|E_PROJECT_UNKNOWN|E_KEY/m)
    expectNoKey([['output', stdout + stderr]])
  }
})

// promise: redirect
test('redirects are not followed, not even to the same host', async () => {
  const asked: string[] = []
  const { port: elsewhere } = await serve(({ url = '' }, response) => {
    asked.push(url)
    response.end('{}')
  })
  for (const host of [`http://127.0.0.1:${elsewhere}/api/v2/projects/shop`, '/other']) {
    const { port } = await serve(({ url = '' }, response) => {
      if (url.startsWith('/other')) asked.push(url)
      response.writeHead(307, { location: host }).end()
    })
    const cwd = folder()
    writeFileSync(join(cwd, 'espalier.yaml'), MANIFEST)
    const env = { ESPALIER_API_KEY: KEY, ESPALIER_BASE_URL: `http://127.0.0.1:${port}/api/v2` }
    const { code, stderr } = await espalier(['apply', '--auto-approve'], env, cwd)
    expect({ code, told: stderr.includes('and the key is not sent there') }).toEqual({ code: 1, told: true })
  }
  expect(asked).toEqual([])
})

// promise: secrets, plain-http
test.each([
  'http://example.com/api/v2',
  'http://127.0.0.1.example.com/api/v2',
  'http://[::ffff:7f00:1]/api',
  'http://0.0.0.0:1/api',
  'ftp://127.0.0.1/x',
  'https://user:pass@example.com/api',
  'javascript:alert(1)',
  '\u001b[31m',
])('the key is not sent to %j', (address) => {
  expect(() => createReadApi({ baseUrl: address, apiKey: KEY })).toThrow(/^(Plain http|The base URL)/)
})

test('an unsafe base URL is rejected, whether from a flag or from the environment, and is not printed', async () => {
  const cwd = folder()
  writeFileSync(join(cwd, 'espalier.yaml'), MANIFEST)
  const env = { ESPALIER_API_KEY: KEY }
  const ended = await Promise.all([
    espalier(['plan', '--base-url', 'https://user:s3cret@example.com'], env, cwd),
    espalier(['plan'], { ...env, ESPALIER_BASE_URL: 'http://example.com/\u001b[31m' }, cwd),
  ])
  for (const { code, stdout, stderr } of ended) {
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^error {2}E_BASE_URL {2}(Plain http|The base URL)/)
    expect(stderr).not.toContain('\u001b')
    expect(stderr).not.toContain('s3cret')
  }
})

// promise: proxy
// hint: Unset it. To trust a private certificate authority, set NODE_EXTRA_CA_CERTS=FILE.
test('TLS certificates are always verified, even against a private CA, and a proxy does not see the key', async () => {
  const sandbox = await openSandbox()
  const authority = makeAuthority()
  const origin = await serveTls(authority, new URL(sandbox.apiUrl).origin)
  const proxy = await openProxy()
  const cwd = folder()
  writeFileSync(join(cwd, 'espalier.yaml'), MANIFEST)
  const ca = join(cwd, 'authority.pem')
  writeFileSync(ca, authority.certificate)
  const trusted = { ESPALIER_API_KEY: KEY, ESPALIER_BASE_URL: `${origin}/api/v2`, NODE_EXTRA_CA_CERTS: ca }
  const plan = (env: Readonly<Record<string, string>>) => espalierAsProcess(['plan', '--debug'], env, cwd)

  const through = await plan({ ...trusted, HTTPS_PROXY: proxy.url })
  expect(through, through.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('1 → 4 CU') })
  expect(new Set(proxy.tunnels)).toEqual(new Set([new URL(origin).host]))
  const count = proxy.tunnels.length

  const around = await plan({ ...trusted, HTTPS_PROXY: proxy.url, NO_PROXY: 'example.com,localhost' })
  expect(around, around.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('1 → 4 CU') })
  expect(proxy.tunnels).toHaveLength(count)
  expectNoKey([
    ['proxy', proxy.seen()],
    ...[through, around].map(({ stdout, stderr }) => ['output', stdout + stderr] as const),
  ])
})

/** The HTTP client reads this from the process. */
const useProxy = (address: string): void => {
  vi.stubEnv('HTTPS_PROXY', address)
  onTestFinished(() => void vi.unstubAllEnvs())
}

// promise: secrets, forged-certificate
test('TLS rejects an unknown CA, with or without a proxy, even if Node is told to accept it', async () => {
  const sandbox = await openSandbox()
  const origin = await serveTls(makeAuthority(), new URL(sandbox.apiUrl).origin)
  const proxy = await openProxy()
  const cwd = folder()
  writeFileSync(join(cwd, 'espalier.yaml'), MANIFEST)
  const env = { ESPALIER_API_KEY: KEY, ESPALIER_BASE_URL: `${origin}/api/v2` }
  const direct = await espalier(['plan'], env, cwd)
  expect(proxy.tunnels).toEqual([])
  useProxy(proxy.url)
  const ended = [direct, await espalier(['plan'], env, cwd)]
  expect(proxy.tunnels).not.toEqual([])
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  const unverified = await espalier(['plan'], env, cwd)
  expect(unverified.stderr).toContain('NODE_TLS_REJECT_UNAUTHORIZED=0 turns certificate checks off')
  ended.push(unverified)
  for (const { code, stderr } of ended) {
    expect(code).toBe(1)
    expect(stderr).toMatch(/certificate/)
    expect(stderr).toContain('NODE_EXTRA_CA_CERTS')
    expectNoKey([['stderr', stderr]])
  }
  expect(sandbox.requests).toBe(0)
})

test('an invalid proxy address is reported without its password', async () => {
  const cwd = folder()
  writeFileSync(join(cwd, 'espalier.yaml'), MANIFEST)
  const env = { ESPALIER_API_KEY: KEY, ESPALIER_BASE_URL: 'https://localhost:1/api/v2' }
  for (const address of ['http://user:s3cret@:80', '\u001b[31ms3cret']) {
    useProxy(address)
    const { code, stderr } = await espalier(['plan'], env, cwd)
    expect({ code, address, isTold: stderr.includes('is not a valid proxy address') }).toEqual({
      code: 1,
      address,
      isTold: true,
    })
    expect(stderr).not.toContain('s3cret')
    expect(stderr).not.toContain('\u001b')
  }
})

test.each(['', ' ', '.txt', ','])(
  'a key given in place of the path of its file is not printed, also not in a hint (%j)',
  async (after) => {
    const key = `napi_${'k3y'.repeat(20)}`
    for (const command of ['plan', 'status', 'init']) {
      const { code, stdout, stderr } = await espalier([command, '--api-key-file', `./${key}${after}`], {}, folder())
      expect(code).toBe(1)
      expect(stdout + stderr).toContain('E_KEY')
      expect(stdout + stderr).not.toContain('k3y')
    }
  },
)
