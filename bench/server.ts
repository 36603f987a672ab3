/** The sandbox with a fleet in it, in a process of its own: prints `{url, key}`, then `{requests}` for each line that it reads. */
import { createInterface } from 'node:readline'
import { startSandbox } from '../src/sandbox/index.ts'
import { fleetSeed } from './fleet.ts'

const [computes = '', projects = ''] = process.argv.slice(2)
let requests = 0
const sandbox = await startSandbox({
  seed: fleetSeed({ computes: Number(computes), projects: Number(projects) }),
  onRequest: () => {
    requests += 1
  },
})
console.log(JSON.stringify({ url: sandbox.apiUrl, key: sandbox.apiKey }))
for await (const _line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify({ requests }))
  requests = 0
}
await sandbox.close()
