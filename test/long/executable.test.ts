/** The executable with its own Node, on a PATH without Node. */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { nodeBinary } from '../../scripts/node-binary.mjs'

const PROGRAM = resolve('build', process.platform === 'win32' ? 'espalier.exe' : 'espalier')
const MANIFEST = resolve('examples/quickstart/espalier.yaml')
const SEED = resolve('examples/quickstart/seed.yaml')

/** Why there is no Node.js binary to build it with. */
let missing: string | undefined
let home: string
beforeAll(() => {
  try {
    if (Number.parseInt(process.versions.node, 10) < 26) nodeBinary(26)
  } catch (error) {
    missing = `npm's package of Node 26 cannot be installed: ${String(error).split('\n')[0]}`
    return
  }
  home = mkdtempSync(join(tmpdir(), 'espalier-executable-'))
  execFileSync(process.execPath, ['scripts/build-executable.mjs'])
}, 300_000)

beforeEach(({ skip }) => skip(missing !== undefined, missing))

const run = (args: readonly string[]) =>
  promisify(execFile)(PROGRAM, [...args], { cwd: home, env: { PATH: '/nowhere', HOME: home } })

const IN_SANDBOX = [MANIFEST, `--sandbox=${SEED}`]

test('the executable prints its version and the help from the build', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  expect(await run(['--version'])).toEqual({ stdout: `${version}\n`, stderr: '' })
  expect(await run(['--help'])).toEqual({ stdout: readFileSync('dist/help/100.txt', 'utf8'), stderr: '' })
})

test('the executable plans and applies on the embedded sandbox, and writes pages', async () => {
  const planned = await run(['plan', ...IN_SANDBOX, '--rehearse', '--html', join(home, 'plan.html')])
  expect(planned.stdout).toContain('Plan: 1 to create, 3 to update.')
  expect(readFileSync(join(home, 'plan.html'), 'utf8')).toContain('<html')
  const applied = await run(['apply', ...IN_SANDBOX, '--auto-approve', '--html', join(home, 'apply.html')])
  expect(applied.stdout).toContain('Apply complete: 4 done.')
  expect((await run(['plan', ...IN_SANDBOX])).stdout).toContain('No changes')
})

test('the executable includes the licences of its dependencies', () => {
  const text = readFileSync('build/LICENSES.txt', 'utf8')
  for (const part of ['Node.js', 'undici', 'yaml', 'pg ']) expect(text).toContain(`\n${part}`)
  expect(existsSync('build/main.mjs')).toBe(false)
})
