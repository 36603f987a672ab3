/** Plans and applies changes in a sandbox with injected faults, and writes HTML pages for both. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parseSeed, startSandbox } from '../../src/sandbox/index.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const HERE = fileURLToPath(new URL('.', import.meta.url))
const run = promisify(execFile)

export interface Pages {
  readonly plan: string
  readonly apply: string
}

/** Writes the pages to `folder`. One project is locked for some time, one operation is slow, and another one fails. */
export const makePages = async (folder: string): Promise<Pages> => {
  const sandbox = await startSandbox({
    seed: parseSeed(readFileSync(join(HERE, 'seed.yaml'), 'utf8'), 'seed.yaml'),
    timeScale: 10,
  })
  const espalier = (...args: readonly string[]) =>
    run(process.execPath, [MAIN, ...args], {
      cwd: HERE,
      env: { PATH: process.env.PATH, ESPALIER_BASE_URL: sandbox.apiUrl, ESPALIER_API_KEY: sandbox.apiKey },
    })
  const pages = { plan: join(folder, 'plan.html'), apply: join(folder, 'apply.html') }
  try {
    await espalier('plan', 'espalier.yaml', '--html', pages.plan)
    sandbox.control.addFault({ on: 'request', method: 'PATCH', effect: { kind: 'lock' } })
    sandbox.control.addFault({ on: 'request', method: 'POST', effect: { kind: 'reset-after' } })
    sandbox.control.addFault({
      on: 'operation',
      endpoint_id: 'ep-dark-lake-a2b3c4d5',
      effect: { kind: 'slow', ms: 20_000 },
    })
    sandbox.control.addFault({
      on: 'operation',
      endpoint_id: 'ep-still-fog-c3d4e5f6',
      effect: { kind: 'error', message: 'no host had room' },
    })
    // This command exits with 3, because some steps are incomplete.
    await espalier('apply', 'espalier.yaml', '--auto-approve', '--allow', 'move', '--html', pages.apply).catch(
      (error: { code?: number; stderr?: string }) => {
        if (error.code !== 3) throw error
      },
    )
    return pages
  } finally {
    await sandbox.close()
  }
}
