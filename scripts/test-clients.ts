/**
 * Runs clients of the service, unmodified, against the sandbox, and prints a table of the results. It installs them from
 * their registries to build/clients. Clients that no registry has must be on the machine: `ESPALIER_ACTIONS` names a folder
 * with GitHub Actions (as for `npm run test:runner`), and `ESPALIER_TERRAFORM_TESTS` the compiled acceptance tests of the
 * Terraform provider. Arguments select clients by a part of their names.
 */
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { delimiter, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createSecureContext, TLSSocket } from 'node:tls'
import { parse } from 'yaml'
import { selfSigned } from '../src/sandbox/computes/proxy/certificate.ts'
import { type Sandbox, type SandboxOptions, startSandbox } from '../src/sandbox/index.ts'

const CACHE = resolve('build/clients')
const PROJECT = 'quiet-river-12345678'
const PRIMARY = 'ep-cool-dawn-a1b2c3d4'
const ORG = 'org-acme-12345678'
const SEED: SandboxOptions['seed'] = {
  projects: [
    {
      id: PROJECT,
      name: 'shop',
      org: ORG,
      branches: [{ name: 'main', computes: [{ id: PRIMARY, size: 1, scaleToZero: 'never' }] }],
    },
  ],
}

interface Result {
  readonly version: string
  readonly passed: number
  readonly failed: readonly string[]
  /** With the reason, if the client gives one. */
  readonly skipped: readonly string[]
}

interface Client {
  readonly name: string
  /** What was run. */
  readonly what: string
  /** @throws {Skipped} if the client cannot run here. */
  readonly run: () => Promise<Result>
}

class Skipped extends Error {}

type Environment = Readonly<Record<string, string>>

const withSandbox = async <T>(use: (sandbox: Sandbox) => Promise<T>, kind: 'simulated' | 'postgres' = 'postgres') => {
  const sandbox = await startSandbox({ seed: SEED, computes: { kind }, background: false })
  try {
    return await use(sandbox)
  } finally {
    await sandbox.close()
  }
}

/** The sandbox runs in this process, so clients must not block it. */
const output = (command: string, args: readonly string[], cwd: string, env: Environment = {}): Promise<string> =>
  new Promise((done, fail) => {
    const child = spawn(command, args, {
      cwd,
      env: { PATH: process.env.PATH, HOME: CACHE, CI: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 1_200_000,
    })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (some) => (text += some))
    child.once('error', fail).once('close', () => done(text))
  })

const matches = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => name)

/** Installs packages once. */
const install = (folder: string, marker: string, act: (path: string) => void): string => {
  const path = join(CACHE, folder)
  const done = join(path, '.installed')
  if (existsSync(done) && readFileSync(done, 'utf8') === marker) return path
  rmSync(path, { recursive: true, force: true })
  mkdirSync(path, { recursive: true })
  try {
    act(path)
  } catch (error) {
    throw new Skipped(`cannot be installed: ${error instanceof Error ? error.message.split('\n')[0] : error}`)
  }
  writeFileSync(done, marker)
  return path
}

const fromNpm = (folder: string, packages: readonly string[], overrides: object = {}): string =>
  install(folder, JSON.stringify([packages, overrides]), (path) => {
    writeFileSync(join(path, 'package.json'), JSON.stringify({ private: true, overrides }))
    const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
    execFileSync('npm', ['install', ...flags, ...packages], { cwd: path, stdio: 'pipe' })
  })

const fromPyPi = (folder: string, packages: readonly string[]): string =>
  install(folder, packages.join(' '), (path) => {
    execFileSync('python3', ['-m', 'venv', path], { stdio: 'pipe' })
    execFileSync(join(path, 'bin/pip'), ['install', '-q', ...packages], { stdio: 'pipe' })
  })

const addressesOf = async (sandbox: Sandbox): Promise<Environment> => {
  const compute = (await sandbox.control.computes()).find(({ id }) => id === PRIMARY)
  const url = new URL(compute?.uri ?? '')
  const { endpoint } = (await get(sandbox, `/projects/${PROJECT}/endpoints/${PRIMARY}`)) as {
    endpoint: { host: string }
  }
  return {
    BASE_URL: sandbox.apiUrl,
    API_KEY: sandbox.apiKey,
    DATABASE_URL: url.href,
    HOST_URL: `postgresql://${url.username}:${url.password}@${endpoint.host}${url.pathname}?sslmode=require`,
    RESTART_URL: `${sandbox.apiUrl}/projects/${PROJECT}/endpoints/${PRIMARY}/restart`,
  }
}

const get = async ({ apiUrl, apiKey }: Sandbox, path: string, init: RequestInit = {}): Promise<unknown> =>
  (await fetch(`${apiUrl}${path}`, { headers: { authorization: `Bearer ${apiKey}` }, ...init })).json()

/** Runs a program of test/clients/programs, which prints its results as TAP. */
const program = async (file: string, folder: string, command: string, version: string): Promise<Result> => {
  cpSync('test/clients/programs', folder, { recursive: true })
  const text = await withSandbox(async (sandbox) => output(command, [file], folder, await addressesOf(sandbox)))
  const failed = matches(text, /^not ok \d* ?- (.*)$/gm)
  const skipped = matches(text, /^ok \d* ?- (.* # SKIP .*)$/gm).map((line) => line.replace(/ # SKIP (.*)/, ' ($1)'))
  const passed = matches(text, /^ok (.*)$/gm).length - skipped.length
  return { version, passed, failed: passed + failed.length === 0 ? [text.trim().slice(-300)] : failed, skipped }
}

const versionIn = (folder: string, name: string): string =>
  (JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')) as { version: string }).version

/** Runs test files of this repository. */
const ownTests = async (version: string, files: readonly string[]): Promise<Result> => {
  const report = join(CACHE, 'vitest.json')
  mkdirSync(CACHE, { recursive: true })
  const config = files.some((file) => file.startsWith('test/long/')) ? ['--config', 'vitest.long.config.ts'] : []
  const flags = ['--reporter=json', `--outputFile=${report}`]
  const text = await output('npx', ['vitest', 'run', ...config, ...flags, ...files], resolve('.'))
  const { testResults = [] } = JSON.parse(readFileSync(report, 'utf8')) as {
    testResults: { assertionResults: { title: string; status: string }[] }[]
  }
  const all = testResults.flatMap(({ assertionResults }) => assertionResults)
  if (all.length === 0) throw new Error(text.slice(-500))
  const titles = (wanted: (status: string) => boolean) =>
    all.filter(({ status }) => wanted(status)).map(({ title }) => title)
  return {
    version,
    passed: titles((status) => status === 'passed').length,
    failed: titles((status) => status === 'failed'),
    skipped: titles((status) => !['passed', 'failed'].includes(status)),
  }
}

const neonApi = async (): Promise<Result> => {
  const folder = fromPyPi('neon-api', ['neon-api==0.3.0', 'pytest'])
  const tests = join(folder, 'neon_api-0.3.0/tests')
  if (!existsSync(tests)) {
    const download = ['download', '-q', '--no-deps', '--no-binary', ':all:', 'neon-api==0.3.0']
    execFileSync(join(folder, 'bin/pip'), download, { cwd: folder, stdio: 'pipe' })
    execFileSync('tar', ['xzf', 'neon_api-0.3.0.tar.gz'], { cwd: folder })
  }
  cpSync('test/clients/programs/conftest.py', join(tests, 'conftest.py'))
  // Simulated: the tests ask for a pooled connection string, for which real computes need PgBouncer.
  const test = async ({ apiUrl, apiKey }: Sandbox) =>
    output(join(folder, 'bin/pytest'), ['-v', '--tb=line', 'tests'], join(tests, '..'), {
      BASE_URL: apiUrl,
      API_KEY: apiKey,
      // The tests of the source package, with the installed package.
      PYTHONSAFEPATH: '1',
    })
  const text = await withSandbox(test, 'simulated')
  const status = (word: string) => matches(text, new RegExp(`::(\\w+) ${word}`, 'g'))
  const [passed, failed] = [status('PASSED'), status('(?:FAILED|ERROR)')]
  if (passed.length + failed.length === 0) throw new Error(text.slice(-500))
  return { version: '0.3.0', passed: passed.length, failed, skipped: status('SKIPPED') }
}

/** An HTTPS proxy that leads every host to the sandbox, for clients whose base URL cannot be changed. */
const startRedirect = async ({ apiUrl }: Sandbox, certificate: string) => {
  const { key, cert } = selfSigned(['console.neon.tech'], Date.now())
  writeFileSync(certificate, cert)
  const secureContext = createSecureContext({ key, cert })
  const server = createServer().on('connect', (_request, socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    const client = new TLSSocket(socket as ConstructorParameters<typeof TLSSocket>[0], {
      isServer: true,
      secureContext,
    })
    const upstream = connect(Number(new URL(apiUrl).port), '127.0.0.1')
    client.on('error', () => upstream.destroy()).pipe(upstream)
    upstream.on('error', () => client.destroy()).pipe(client)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}

const terraformProvider = async (kind: 'simulated' | 'postgres'): Promise<Result> => {
  const tests = process.env.ESPALIER_TERRAFORM_TESTS
  if (tests === undefined) throw new Skipped('set ESPALIER_TERRAFORM_TESTS to its compiled acceptance tests')
  const folder = join(CACHE, 'terraform')
  mkdirSync(folder, { recursive: true })
  const certificate = join(folder, 'certificate.pem')
  const text = await withSandbox(async (sandbox) => {
    const redirect = await startRedirect(sandbox, certificate)
    try {
      return await output(resolve(tests), ['-test.v', '-test.run', '^Test[A-Z]', '-test.timeout', '15m'], folder, {
        TF_ACC: '1',
        TF_ACC_TERRAFORM_PATH: execFileSync('which', ['terraform'], { encoding: 'utf8' }).trim(),
        NEON_API_KEY: sandbox.apiKey,
        ORG_ID: ORG,
        HTTPS_PROXY: redirect.url,
        SSL_CERT_FILE: certificate,
        CHECKPOINT_DISABLE: '1',
      })
    } finally {
      redirect.close()
    }
  }, kind)
  writeFileSync(join(folder, `${kind}.log`), text)
  const status = (word: string) => matches(text, new RegExp(`^--- ${word}: (\\w+)`, 'gm'))
  return {
    version: /\d+\.\d+\.\d+/.exec(tests)?.[0] ?? 'as compiled',
    passed: status('PASS').length,
    failed: status('FAIL'),
    skipped: status('SKIP'),
  }
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>
  readonly runs: {
    readonly using: string
    readonly main?: string
    readonly steps?: readonly { readonly run?: string; readonly env?: Environment }[]
  }
}

/** Runs a GitHub Action as the runner would, and returns its outputs. @throws {Error} if it fails. */
const runAction = async (folder: string, inputs: Environment): Promise<Environment> => {
  const file = ['action.yml', 'action.yaml'].map((name) => join(folder, name)).find(existsSync) ?? ''
  const action = parse(readFileSync(file, 'utf8')) as Action
  const values: Record<string, string> = {}
  for (const [name, { default: usual }] of Object.entries(action.inputs)) values[name] = inputs[name] ?? usual ?? ''
  const outputs = join(CACHE, 'outputs')
  writeFileSync(outputs, '')
  const env: Environment = { GITHUB_OUTPUT: outputs, GITHUB_REPOSITORY: 'acme/shop', ENVIRONMENT: 'development' }
  const inserted = (text: string): string =>
    text.replaceAll(/\$\{\{\s*inputs\.(\w+)\s*\}\}/g, (_all, name: string) => values[name] ?? '')
  let text = ''
  if (action.runs.main !== undefined) {
    const asInputs = Object.entries(values).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])
    const main = resolve(folder, action.runs.main)
    text = await output(process.execPath, [main], CACHE, { ...env, ...Object.fromEntries(asInputs) })
  }
  let tool = ''
  for (const step of action.runs.steps ?? []) {
    if (step.run === undefined) continue
    // Installed in the cache instead of globally.
    const [, wanted] = /\b(neonctl@[\w.]+)/.exec(step.run) ?? []
    if (wanted !== undefined) {
      tool = join(fromNpm(`action-${wanted}`, [wanted.replace('@v', '@')]), 'node_modules/.bin')
      continue
    }
    const added = Object.entries(step.env ?? {}).map(([name, value]) => [name, inserted(value)])
    text += await output('bash', ['-eo', 'pipefail', '-c', `${inserted(step.run)}\necho "action done"`], CACHE, {
      ...env,
      ...Object.fromEntries(added),
      PATH: [tool, process.env.PATH].join(delimiter),
    })
    if (!text.endsWith('action done\n')) throw new Error(text.slice(-300))
  }
  const [error] = matches(text, /^::error::(.*)$/gm)
  if (error !== undefined) throw new Error(error)
  return Object.fromEntries(
    [...readFileSync(outputs, 'utf8').matchAll(/^(\w+)(?:=|<<(\S+)\n)(.*?)(?:\n\2)?$/gms)].map(([, name, , value]) => [
      name,
      value,
    ]),
  )
}

const actions = async (): Promise<Result> => {
  const folder = join(process.env.ESPALIER_ACTIONS ?? '', 'neondatabase')
  if (process.env.ESPALIER_ACTIONS === undefined || !existsSync(folder)) {
    throw new Skipped('set ESPALIER_ACTIONS to a folder with neondatabase/create-branch-action@…')
  }
  const find = (name: string): string => {
    const found = readdirSync(folder).find((one) => one.startsWith(`${name}@`))
    if (found === undefined) throw new Error(`${folder} lacks ${name}@…`)
    return join(folder, found)
  }
  const failed: string[] = []
  let passed = 0
  await withSandbox(async (sandbox) => {
    const [, dump] = /(\d+)\./.exec(await output('pg_dump', ['--version'], CACHE).catch(() => '')) ?? []
    const wanted = { project: { name: 'actions', ...(dump === undefined ? {} : { pg_version: Number(dump) }) } }
    const body = JSON.stringify(wanted)
    const headers = { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' }
    const made = (await get(sandbox, '/projects', { method: 'POST', body, headers })) as { project: { id: string } }
    const project_id = made.project.id
    const list = async <T>(kind: string): Promise<T> => (await get(sandbox, `/projects/${project_id}/${kind}`)) as T
    const settled = async (): Promise<void> => {
      const { operations } = await list<{ operations: readonly { status: string }[] }>('operations')
      if (operations.some(({ status }) => ['running', 'scheduling'].includes(status))) return pause(50).then(settled)
    }
    const branches = async (): Promise<readonly string[]> =>
      (await list<{ branches: readonly { name: string }[] }>('branches')).branches.map(({ name }) => name)
    const common = { project_id, api_key: sandbox.apiKey, api_host: sandbox.apiUrl }
    const step = async (action: string, inputs: Environment, check: (outputs: Environment) => unknown) => {
      await settled()
      try {
        const outputs = await runAction(find(action), { ...common, ...inputs })
        if (!(await check(outputs))) throw new Error(`unexpected outputs ${JSON.stringify(outputs)}`)
        passed += 1
      } catch (error) {
        failed.push(`${action}: ${error instanceof Error ? error.message : error}`)
      }
    }
    const create = 'create-branch-action'
    await step(
      create,
      { branch_name: 'feature' },
      async ({ created }) => created === 'true' && (await branches()).includes('feature'),
    )
    await step(
      create,
      { branch_name: 'feature' },
      ({ created, db_url = '' }) => created === 'false' && URL.canParse(db_url),
    )
    await step('reset-branch-action', { branch: 'feature', parent: 'true' }, ({ db_url = '' }) => URL.canParse(db_url))
    await step('schema-diff-action', { compare_branch: 'feature', base_branch: 'main' }, ({ diff }) => diff === '')
    await step('delete-branch-action', { branch: 'feature' }, async () => !(await branches()).includes('feature'))
  })
  return {
    version: readdirSync(folder)
      .map((name) => name.replace(/.*@/, '').slice(0, 7))
      .join(', '),
    passed,
    failed,
    skipped: [],
  }
}

/** @fastify/otel, a dependency of its telemetry, would be downloaded from GitHub. */
const MCP_OVERRIDES = { '@fastify/otel': '0.9.4' }

const CLIENTS: readonly Client[] = [
  {
    name: 'neonctl, neon',
    what: 'every command (test/long/cli.test.ts)',
    run: () => ownTests(`${versionIn('.', 'neonctl')}, ${versionIn('.', 'neon')}`, ['test/long/cli.test.ts']),
  },
  {
    name: '@neondatabase/api-client, @neon/sdk',
    what: 'every served route (test/clients/libraries.test.ts)',
    run: () =>
      ownTests(`${versionIn('.', '@neondatabase/api-client')}, ${versionIn('.', '@neon/sdk')}`, [
        'test/clients/libraries.test.ts',
      ]),
  },
  {
    name: '@neondatabase/serverless',
    what: 'HTTP and WebSocket (test/long/serverless.test.ts)',
    run: () => ownTests(versionIn('.', '@neondatabase/serverless'), ['test/long/serverless.test.ts']),
  },
  {
    name: '@neondatabase/toolkit',
    what: 'create, sql, delete',
    run: () => {
      const folder = fromNpm('toolkit', ['@neondatabase/toolkit@0.1.2', '@neondatabase/serverless'])
      return program('toolkit.mjs', folder, process.execPath, versionIn(folder, '@neondatabase/toolkit'))
    },
  },
  {
    name: '@neondatabase/mcp-server-neon',
    what: 'its tools for projects, branches, SQL and migrations',
    run: () => {
      const folder = fromNpm('mcp', ['@neondatabase/mcp-server-neon@0.6.5'], MCP_OVERRIDES)
      return program('mcp.mjs', folder, process.execPath, versionIn(folder, '@neondatabase/mcp-server-neon'))
    },
  },
  {
    name: 'Drizzle',
    what: 'migrations and queries over TCP and HTTP',
    run: () => {
      const folder = fromNpm('drizzle', ['drizzle-orm@0.45.4', 'pg', '@neondatabase/serverless'])
      return program('drizzle.mjs', folder, process.execPath, versionIn(folder, 'drizzle-orm'))
    },
  },
  {
    name: 'SQLAlchemy',
    what: 'tables, queries, transactions, a restart',
    run: () => {
      const folder = fromPyPi('sqlalchemy', ['sqlalchemy==2.1.9', 'psycopg[binary]==3.3.9'])
      return program('alchemy.py', folder, join(folder, 'bin/python'), '2.1.9')
    },
  },
  { name: 'neon-api (Python)', what: 'its own tests', run: neonApi },
  { name: 'GitHub Actions', what: 'create, reuse, reset, schema diff, delete', run: actions },
  {
    name: 'terraform-provider-neon',
    what: 'its acceptance tests, simulated',
    run: () => terraformProvider('simulated'),
  },
  { name: 'terraform-provider-neon', what: 'its acceptance tests, Postgres', run: () => terraformProvider('postgres') },
]

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ').slice(0, 300)
const wanted = process.argv.slice(2)
console.log('| client | version | what was run | passed | failed | skipped |\n|---|---|---|---|---|---|')
for (const { name, what, run } of CLIENTS) {
  if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) continue
  const row = await run().then(
    ({ version, passed, failed, skipped }) => {
      if (failed.length > 0) process.exitCode = 1
      const listed = (names: readonly string[]) =>
        names.length === 0 ? '0' : `${names.length}: ${names.map(cell).join('; ')}`
      return [version, what, String(passed), listed(failed), listed(skipped)]
    },
    (error: Error) => {
      if (error instanceof Skipped) return ['', what, '0', '0', cell(error.message)]
      process.exitCode = 1
      return ['', what, '0', cell(error.message), '0']
    },
  )
  console.log(`| ${name} | ${row.join(' | ')} |`)
}
process.exit()
