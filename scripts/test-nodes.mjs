// Runs the tests on each supported major version of Node.
import { spawnSync } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import { nodeBinary } from './node-binary.mjs'

const MAJORS = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24', '26']

let failed = false
for (const major of MAJORS) {
  const node = nodeBinary(major)
  process.stdout.write(`\n== Node ${major}\n`)
  const { status } = spawnSync(node, ['node_modules/vitest/vitest.mjs', 'run'], {
    stdio: 'inherit',
    env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` },
  })
  failed ||= status !== 0
}
process.exitCode = failed ? 1 : 0
