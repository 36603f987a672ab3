/** The examples of docs/how-to/test-an-application.md, run as they are printed. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ROOT } from '../e2e/espalier.ts'

const [, vitest = '', pytest = '', shell = ''] =
  /```ts\n(.*?)```.*```python\n(.*?)```.*?```sh\n(.*?)```/s.exec(
    readFileSync('docs/how-to/test-an-application.md', 'utf8'),
  ) ?? []
const has = (...command: readonly [string, ...string[]]): boolean =>
  spawnSync(command[0], command.slice(1), { stdio: 'ignore' }).status === 0

/** A project with the packages that the page installs. */
const openProject = () => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-testing-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(ROOT, join(folder, 'node_modules/espalier'))
  for (const name of ['pg', 'vitest']) symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  copyFileSync('examples/sandbox/seed.yaml', join(folder, 'seed.yaml'))
  mkdirSync(join(folder, 'node_modules/.bin'))
  symlinkSync(join(ROOT, 'dist/main.js'), join(folder, 'node_modules/.bin/espalier'))
  // Like the real one, npx runs the program as a child and does not pass signals on.
  writeFileSync(join(folder, 'npx'), '#!/bin/sh\nnode_modules/.bin/"$@"\n')
  chmodSync(join(folder, 'npx'), 0o755)
  const env = { HOME: folder, TMPDIR: folder, PATH: [folder, process.env.PATH].join(delimiter) }
  return {
    write: (file: string, text: string) => writeFileSync(join(folder, file), text),
    run: (command: string, args: readonly string[]) =>
      execFileSync(command, args, { cwd: folder, env, encoding: 'utf8', timeout: 50_000, stdio: 'pipe' }),
    /** Whether the sandbox that the example started has ended. */
    isOver: async () => {
      const [, url = ''] = /^API +(\S+)/m.exec(readFileSync(join(folder, 'sandbox.log'), 'utf8')) ?? []
      return fetch(url).then(
        () => false,
        () => true,
      )
    },
  }
}

test('the example for vitest gives a test a database', () => {
  const { write, run } = openProject()
  const body = `
import pg from 'pg'
import { expect, test } from 'vitest'
test('the database answers', async () => {
  const client = new pg.Client({ connectionString: process.env.DATABASE_URL })
  await client.connect()
  expect((await client.query('SELECT 6 * 7 AS n')).rows).toEqual([{ n: 42 }])
  await client.end()
})`
  write('app.test.ts', `${vitest}${body}`)
  expect(run(process.execPath, [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run'])).toMatch(/1 passed/)
})

test.skipIf(!has('python3', '-m', 'pytest', '--version') || !has('psql', '--version'))(
  'the example for pytest gives a test a database (skipped without pytest or psql)',
  async () => {
    const { write, run, isOver } = openProject()
    const body = `
def test_database(database_url):
    assert subprocess.check_output(["psql", database_url, "-Atc", "SELECT 6 * 7"], text=True) == "42\\n"`
    write('test_app.py', `${pytest}${body}`)
    expect(run('python3', ['-m', 'pytest', '-p', 'no:cacheprovider', 'test_app.py'])).toContain('1 passed')
    await expect.poll(isOver).toBe(true)
  },
)

test.skipIf(!has('psql', '--version'))(
  'the example for a shell script reaches a database (skipped without psql)',
  async () => {
    const { run, isOver } = openProject()
    expect(run('bash', ['-e', '-c', shell])).toContain('(1 row)')
    await expect.poll(isOver).toBe(true)
  },
)
