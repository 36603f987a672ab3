import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { longTest } from '../long-runs.ts'
import { espalierAsProcess, ROOT, serve } from './espalier.ts'

/** `--help --help` skips the cached help and renders it. */
test('the help text from the build matches the help text rendered at run time', async () => {
  const kept = await espalierAsProcess(['--help'])
  expect(kept.code).toBe(0)
  expect(kept.stdout).toBe((await espalierAsProcess(['--help', '--help'])).stdout)
})

test('the only dependency is pg', async () => {
  const { dependencies } = JSON.parse(await readFile(`${ROOT}package.json`, 'utf8')) as { dependencies: object }
  expect(Object.keys(dependencies).sort()).toEqual(['pg'])
})

test('validate loads neither node_modules, nor an HTTP client, nor the checks for saved plans', async () => {
  const { stderr, code } = await espalierAsProcess(['validate', 'examples/quickstart/espalier.yaml'], {
    NODE_DEBUG: 'esm',
  })
  expect(code).toBe(0)
  expect(stderr).toContain('dist/main.js')
  expect(stderr).not.toContain('node_modules')
  const folder = `${ROOT}dist/chunks/`
  const loaded = (await readdir(folder)).filter((name) => stderr.includes(name))
  const texts = await Promise.all(loaded.map((name) => readFile(folder + name, 'utf8')))
  expect(loaded).not.toEqual([])
  for (const mark of ['UND_ERR_', 'ZodError', 'Temporal.'])
    expect(texts.filter((text) => text.includes(mark))).toEqual([])
})

longTest('only a command with --sandbox loads the sandbox', async () => {
  const folder = `${ROOT}dist/chunks/`
  const texts = await Promise.all(
    (await readdir(folder)).map(async (name) => [name, await readFile(folder + name, 'utf8')] as const),
  )
  const ofSandbox = texts.filter(([, text]) => text.includes('NOT_SERVED_BY_SANDBOX')).map(([name]) => name)
  expect(ofSandbox).not.toEqual([])
  const loaded = async (...[args, env, cwd]: Parameters<typeof espalierAsProcess>): Promise<readonly string[]> => {
    const { code, stderr } = await espalierAsProcess(args, { ...env, NODE_DEBUG: 'esm' }, cwd)
    expect(code).toBe(0)
    return ofSandbox.filter((name) => stderr.includes(name))
  }
  const seed = 'examples/quickstart/seed.yaml'
  const plan = ['plan', 'examples/quickstart/espalier.yaml']
  const served = await serve(seed)
  onTestFinished(async () => void (await served.stop()))
  expect(await loaded(plan, served.env)).toEqual([])
  const state = await mkdtemp(join(tmpdir(), 'espalier-state-'))
  const inSandbox = ['plan', join(ROOT, 'examples/quickstart/espalier.yaml'), `--sandbox=${join(ROOT, seed)}`]
  expect(await loaded(inSandbox, {}, state)).toEqual(ofSandbox)
})
