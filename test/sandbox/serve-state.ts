/** A sandbox in a process of its own, for tests that kill it: `serve-state.ts DIR PROJECTS`. Prints `{apiUrl, apiKey}`. */
import { startSandbox } from '../../src/sandbox/index.ts'

const [stateDir = '', projects = ''] = process.argv.slice(2)
const { apiUrl, apiKey } = await startSandbox({
  stateDir,
  durations: { start_compute: 1, suspend_compute: 1, apply_config: 1 },
  seed: {
    projects: Array.from({ length: Number(projects) }, (_, index) => ({
      id: `project-${index}`,
      branches: [{ id: `br-main-x-${index}`, name: 'main' }],
    })),
  },
})
process.stdout.write(`${JSON.stringify({ apiUrl, apiKey })}\n`)
