import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/index.ts'
import { isLong } from '../long-runs.ts'
import { caller } from './open-sandbox.ts'

const SOURCE = fileURLToPath(new URL('serve-state.ts', import.meta.url))
/** Bundled, so that each process need not compile the sources again. */
const PROGRAM = fileURLToPath(new URL('../../node_modules/.cache/espalier/serve-state.mjs', import.meta.url))
const REQUIRE = "import { createRequire as make } from 'node:module'; const require = make(import.meta.url)"
beforeAll(async () => {
  await build({
    ...{ entryPoints: [SOURCE], outfile: PROGRAM, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' },
    // CommonJS packages call `require`.
    ...{ banner: { js: REQUIRE }, external: ['pg-native'] },
  })
})
const PROJECTS = 16
const [ROUNDS, CHANGES] = isLong ? [2, 150] : [1, 40]

const serve = async (directory: string) => {
  const child = spawn(process.execPath, [PROGRAM, directory, String(PROJECTS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return { child, ...(JSON.parse(line) as { apiUrl: string; apiKey: string }) }
}

test('acknowledged changes survive kill -9 during a write', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'espalier-kill-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const acknowledged = new Map<string, { project: string; operation: string }>()
  const renamed = new Map<string, string>()
  for (let round = 1; round <= ROUNDS; round += 1) {
    const { child, apiUrl, apiKey } = await serve(directory)
    const call = caller({ apiUrl, apiKey })
    const exited = once(child, 'exit')
    const killAt = acknowledged.size + CHANGES
    const write = async (project: string, branch_id: string): Promise<void> => {
      for (let turn = 0; ; turn += 1) {
        const made = await call('POST', `/projects/${project}/endpoints`, {
          endpoint: { branch_id, type: 'read_only' },
        })
        if (made.status === 423) continue
        const { endpoint, operations } = made.body
        acknowledged.set(endpoint.id, { project, operation: operations[0].id })
        const name = `round-${round}-${turn}`
        const patch = await call('PATCH', `/projects/${project}/endpoints/${endpoint.id}`, { endpoint: { name } })
        if (patch.status === 200) renamed.set(endpoint.id, name)
        if (acknowledged.size >= killAt) child.kill('SIGKILL')
      }
    }
    // The kill cuts the connections.
    await Promise.allSettled(
      Array.from({ length: PROJECTS }, (_, index) => write(`project-${index}`, `br-main-x-${index}`)),
    )
    expect((await exited)[1]).toBe('SIGKILL')
  }

  const sandbox = await startSandbox({ stateDir: directory })
  onTestFinished(() => sandbox.close())
  const call = caller(sandbox)
  expect(acknowledged.size).toBeGreaterThanOrEqual(ROUNDS * CHANGES)
  for (const [id, { project, operation }] of acknowledged) {
    const { status, body } = await call('GET', `/projects/${project}/endpoints/${id}`)
    expect(status, id).toBe(200)
    if (renamed.has(id)) expect(body.endpoint.name).toBe(renamed.get(id))
    expect((await call('GET', `/projects/${project}/operations/${operation}`)).status).toBe(200)
  }
})
