// Runs the checks of `npm run check` concurrently, and prints the output of each check when it ends.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { delimiter } from 'node:path'

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
// The same environment as with `npm run`, so that npm does not have to be started for each check.
const env = { ...process.env, PATH: `${process.cwd()}/node_modules/.bin${delimiter}${process.env.PATH}` }
const failed = []
const waiting = process.argv.slice(2)

const check = (name) =>
  new Promise((resolve) => {
    const chunks = []
    const [script, more = ''] = name.split(' -- ')
    const child = spawn(`${scripts[script]} ${more}`, { shell: true, env, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk))
    child.on('close', (code) => {
      if (code !== 0) failed.push(name)
      process.stdout.write(`── ${name}\n${Buffer.concat(chunks)}\n`)
      resolve()
    })
  })

const worker = async () => {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await check(name)
}

await Promise.all(Array.from({ length: availableParallelism() }, worker))
if (failed.length > 0) {
  console.error(`Failed: ${failed.join(', ')}`)
  process.exitCode = 1
}
