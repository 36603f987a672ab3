/**
 * Runs a sandbox with stored state in a separate process. Prints `{url, key}`, then its memory usage for each line of
 * input.
 */
import { createInterface } from 'node:readline'
import { startSandbox } from '../src/sandbox/index.ts'

const [stateDir = '', projects = '16'] = process.argv.slice(2)
const sandbox = await startSandbox({
  stateDir,
  background: false,
  // Operations end immediately, so that the project is not locked when the next write arrives.
  durations: { apply_config: 0, start_compute: 0, suspend_compute: 0 },
  seed: {
    projects: Array.from({ length: Number(projects) }, (_, index) => ({
      id: `project-${index}`,
      branches: [
        { id: `br-main-${index}`, name: 'main', computes: [{ id: `ep-main-${index}`, size: 1, scaleToZero: 'never' }] },
      ],
    })),
  },
})
console.log(JSON.stringify({ url: sandbox.apiUrl, key: sandbox.apiKey }))
for await (const _line of createInterface({ input: process.stdin })) {
  globalThis.gc?.()
  console.log(JSON.stringify({ heapMiB: process.memoryUsage().heapUsed / 2 ** 20 }))
}
await sandbox.close()
