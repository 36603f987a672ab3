// Runs the tests on each supported major of Node; the binaries come from npm's `node` packages, into a folder that git ignores.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'

const MAJORS = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24']

const run = (command, args, env = {}) =>
  spawnSync(command, args, { stdio: 'inherit', env: { ...process.env, ...env } }).status ?? 1

let failed = false
for (const major of MAJORS) {
  const home = resolve('node_modules', '.nodes', major)
  const bin = join(home, 'node_modules', 'node', 'bin')
  if (!existsSync(join(bin, 'node'))) {
    mkdirSync(home, { recursive: true })
    if (run('npm', ['install', '--prefix', home, '--no-save', '--no-package-lock', `node@${major}`]) !== 0) {
      process.exit(1)
    }
  }
  process.stdout.write(`\n== Node ${major}\n`)
  const status = run(join(bin, 'node'), ['node_modules/vitest/vitest.mjs', 'run'], {
    PATH: `${bin}:${process.env.PATH}`,
  })
  failed ||= status !== 0
}
process.exitCode = failed ? 1 : 0
