/** The package that `npm publish` would publish: its files, and how an application uses it, installed alone. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { publint } from 'publint'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { ROOT } from '../e2e/espalier.ts'
import { serve } from '../serve.ts'

const run = promisify(execFile)
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')

let application: string
/** The files in the package. */
let files: readonly string[] = []
let bytes = 0
let tarball: string
let sandbox: Sandbox
beforeAll(async () => {
  application = mkdtempSync(join(tmpdir(), 'espalier-application-'))
  const modules = join(application, 'node_modules')
  mkdirSync(join(modules, '@types'), { recursive: true })
  const packing = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', application], {
    cwd: ROOT,
  })
  const [packed] = JSON.parse(packing.stdout)
  files = packed.files.map(({ path }: { readonly path: string }) => path)
  bytes = packed.size
  tarball = join(application, packed.filename)
  await run('tar', ['-xzf', packed.filename, '-C', modules], { cwd: application })
  await run('mv', [join(modules, 'package'), join(modules, 'espalier')])
  symlinkSync(join(ROOT, 'node_modules/@types/node'), join(modules, '@types/node'))
  symlinkSync(join(ROOT, 'node_modules/undici-types'), join(modules, 'undici-types'))
  writeFileSync(join(application, 'package.json'), '{ "type": "module" }')
  writeFileSync(
    join(application, 'espalier.yaml'),
    'version: 1\nproject: shop\nbranches:\n  main: { primary: { size: 2 } }\n',
  )
  sandbox = await startSandbox({
    seed: { projects: [{ id: 'shop', branches: [{ name: 'main', computes: [{ id: 'ep-main', size: 1 }] }] }] },
  })
})
afterAll(async () => {
  await sandbox.close()
  rmSync(application, { recursive: true, force: true })
})

const node = (name: string, program: string, env: Readonly<Record<string, string>> = {}) => {
  writeFileSync(join(application, name), program)
  return run(process.execPath, [name], {
    cwd: application,
    env: { PATH: process.env.PATH, ESPALIER_BASE_URL: sandbox.apiUrl, ESPALIER_API_KEY: sandbox.apiKey, ...env },
  })
}

const [PLAN_AND_POST = '', APPLY = ''] = [
  ...readFileSync(join(ROOT, 'docs/reference/javascript.md'), 'utf8').matchAll(/```js\n(.*?)```/gs),
].map(([, program]) => program)

test('the first program of docs/reference/javascript.md posts the plan', async () => {
  const posted: string[] = []
  const { origin } = await serve(async (request, response) => {
    posted.push(await text(request))
    response.end()
  })
  await node('post.js', PLAN_AND_POST, { WEBHOOK_URL: origin })
  expect(posted.map((body) => JSON.parse(body))).toEqual([
    { text: expect.stringContaining('`size 1 → 2 CU`'), restarts: 1 },
  ])
})

test('the second program of docs/reference/javascript.md applies the plan, and the API rejects a stale plan and copied manifests', async () => {
  const { stdout } = await node('apply.js', APPLY)
  expect(stdout).toMatch(/^shop\/br-\S+\/primary#1 done\n/)
  const stale = await node(
    'stale.js',
    `import { apply, createWriteClient, loadManifests, plan } from 'espalier'
     import { writeFileSync } from 'node:fs'
     const client = createWriteClient({ apiKey: process.env.ESPALIER_API_KEY, baseUrl: process.env.ESPALIER_BASE_URL })
     writeFileSync('three.yaml', 'version: 1\\nproject: shop\\nbranches: { main: { primary: { size: 3 } } }\\n')
     const planned = await plan(client, await loadManifests(['three.yaml']))
     console.log((await apply(client, planned)).kind)
     await apply(client, planned).catch(({ code }) => console.log(code))
     await plan(client, { ...(await loadManifests()) }).catch(({ message }) => console.log(message))
     await client.close()`,
  )
  expect(stale.stdout).toBe('ended\nE_STALE\nThis must come from loadManifests.\n')
})

test('an uncaught error prints its statement, not a page of minified code', async () => {
  const program = "import { createReadClient } from 'espalier'\ncreateReadClient({ apiKey: '' })"
  const { stderr } = await node('uncaught.js', program).catch((error: { readonly stderr: string }) => error)
  expect(stderr).toContain('EspalierError: The API key is missing or empty.')
  expect(stderr.length).toBeLessThan(3_000)
})

test('the published types compile without our sources and without the bundled libraries', async () => {
  const programs = {
    'right.ts': `import { createReadClient, loadManifests, plan, type Change, type Plan } from 'espalier'
      import { startSandbox, type Branch } from 'espalier/sandbox'
      const sandbox = await startSandbox({ computes: 'postgres', seed: { projects: [{ id: 'shop', branches: [{ name: 'main' }] }] } })
      const branch: Branch = await sandbox.createBranch({ parent: 'main' })
      process.env.DATABASE_URL = branch.connectionString
      await branch.delete()
      const client = createReadClient({ apiKey: sandbox.apiKey, baseUrl: sandbox.apiUrl })
      const { plan: made, origin } = await plan(client, await loadManifests(), { base: await loadManifests([], { ref: 'main' }) })
      const worst = (of: Plan): Change | undefined => of.changes.find(({ impact }) => impact === 'restart')
      console.log(worst(made)?.source?.line, origin?.drift.length)\n`,
    'cannot-write.ts': `import { apply, createReadClient, loadManifests, plan } from 'espalier'
      const client = createReadClient({ apiKey: '' })
      await apply(client, await plan(client, await loadManifests()))\n`,
    'unknown-value.ts': `import { startSandbox } from 'espalier/sandbox'\nawait startSandbox({ computes: 'oracle' })\n`,
  }
  const files = Object.entries(programs).map(([name, program]) => {
    writeFileSync(join(application, name), program)
    return name
  })
  const { stdout } = await run(
    process.execPath,
    [
      ...[TSC, '--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023'],
      ...['--ignoreConfig', '--pretty', 'false', '--types', 'node', ...files],
    ],
    { cwd: application },
  ).catch((error: { readonly stdout: string }) => error)
  const errors = stdout.split('\n').filter((line) => / error TS/.test(line))
  expect(errors, stdout).toEqual([
    expect.stringMatching(/^cannot-write\.ts\b/),
    expect.stringMatching(/^unknown-value\.ts\b.*"?oracle"?/),
  ])
  expect(stdout).toContain("'canWrite' is missing")
})

test('the published types resolve for every importer of ES modules (are the types wrong?)', async () => {
  // Imported only here, because it loads a compiler.
  const { checkPackage, createPackageFromTarballData } = await import('@arethetypeswrong/core')
  const result = await checkPackage(createPackageFromTarballData(readFileSync(tarball)))
  const problems = 'problems' in result ? result.problems : ['there are no types']
  // CommonJS can only use `import()`, and TypeScript's resolution for Node 10 does not support `exports`.
  const isOfEsm = (problem: object | string): boolean =>
    !(typeof problem === 'object' && 'resolutionKind' in problem) ||
    !['node10', 'node16-cjs'].includes(String(problem.resolutionKind))
  expect(problems.filter(isOfEsm)).toEqual([])
})

test('a schema can be imported from the package', async () => {
  const { stdout } = await node(
    'schema.js',
    `import plan from 'espalier/schemas/plan.schema.json' with { type: 'json' }\nconsole.log(plan.type)`,
  )
  expect(stdout).toBe('object\n')
})

// promise: package-contents
test('the package contains the program, its schemas, its examples and some documents', () => {
  const rules = [
    /^dist\/.+\.js$/,
    // Types of the public modules.
    /^dist\/types\/.+\.d\.ts$/,
    // The rendered help, the descriptions of commands, the man page, and the licences of bundled packages.
    /^dist\/help\/(\d+\.txt|commands\.json)$/,
    /^dist\/espalier\.1$/,
    /^dist\/LICENSES\.txt$/,
    /^schemas\/.+\.(json|yaml)$/,
    // For coding assistants.
    /^docs\/skill\/SKILL\.md$/,
    // The README uses them.
    /^examples\//,
    /^(README|CHANGELOG|docs\/README)\.md$/,
    /^LICENSE$/,
    /^package\.json$/,
  ]
  expect(files.filter((file) => !rules.some((rule) => rule.test(file)))).toEqual([])
  expect(files).toEqual(
    expect.arrayContaining([
      'dist/main.js',
      'LICENSE',
      'README.md',
      'schemas/manifest.schema.json',
      'examples/quickstart/seed.yaml',
    ]),
  )
  const program = files.filter((file) => !file.startsWith('examples/'))
  expect(program.join('\n')).not.toMatch(/test|fixture|\.map$|(?<!\.d)\.ts$|\.env|\.npmrc/m)
  // The Action's bundle and the tests would exceed this limit many times over.
  expect(bytes).toBeLessThan(3 * 1024 * 1024)
})

test('the package contains every file that the program imports, and no file refers to a source map', () => {
  const missing: string[] = []
  for (const file of files.filter((name) => name.endsWith('.js'))) {
    const text = readFileSync(file, 'utf8')
    expect(text, file).not.toContain('sourceMappingURL')
    for (const [, target = ''] of text.matchAll(/(?:from|import\()\s*"(\.\.?\/[^"]+\.js)"/g)) {
      const path = posix.join(dirname(file), target)
      if (!files.includes(path)) missing.push(path)
    }
  }
  expect(missing).toEqual([])
})

test('no packaged file names a path of the build machine', () => {
  const home = process.env.HOME ?? ''
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    expect(text, file).not.toContain(process.cwd())
    if (home.length > 6) expect(text, file).not.toContain(home)
  }
})

// promise: package-contents
test('publint finds no mistake in the package', async () => {
  const { buffer: tarball } = new Uint8Array(readFileSync(join(application, 'espalier-0.1.0.tgz')))
  const { messages } = await publint({ pack: { tarball }, strict: true })
  expect(messages.filter(({ type }) => type === 'error')).toEqual([])
})

test('package.json is ready for publishing with provenance', () => {
  const { name, version, license, bin, man, engines, publishConfig, repository, scripts } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  )
  expect({ name, license, engines }).toEqual({ name: 'espalier', license: 'Apache-2.0', engines: { node: '>=20.19' } })
  expect(version).toMatch(/^\d+\.\d+\.\d+/)
  expect(readFileSync(man[0], 'utf8')).toContain(`"espalier ${version}"`)
  expect(publishConfig).toEqual({ access: 'public', provenance: true })
  // Provenance is checked against this address.
  expect(repository).toEqual({ type: 'git', url: expect.stringMatching(/^git\+https:\/\/github\.com\/.+\.git$/) })
  expect(Object.keys(scripts).filter((script) => /^(pre|post)?(install|prepare)$/.test(script))).toEqual([])
  for (const file of Object.values(bin as Record<string, string>)) {
    expect(existsSync(join('.', file))).toBe(true)
    expect(readFileSync(file, 'utf8').split('\n')[0]).toBe('#!/usr/bin/env node')
  }
})
