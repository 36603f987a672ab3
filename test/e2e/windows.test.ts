/** Restart windows: shown, waited for and overridden. */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WEEKDAYS } from '../../src/model/index.ts'
import { parseSeed, type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { espalier } from './espalier.ts'
import { environmentOf } from './real-computes.ts'

/** A weekday that is neither today nor adjacent to it, in any time zone. */
const FAR = WEEKDAYS[(new Date().getUTCDay() + 2) % 7]

const manifest = (window: string): string => `version: 1
project: quiet-river-12345678
restartWindow: ${window}
branches:
  main:
    primary: { size: 2 }
  staging:
    primary: { scaleToZero: 10m }
`
const CLOSED = manifest(`{ days: [${FAR}], from: "02:00", to: "04:00", timezone: UTC }`)
const OPEN = manifest('{ from: "00:00", to: "24:00", timezone: UTC }')

let sandbox: Sandbox
let folder: string
beforeAll(async () => {
  const seed = await readFile('examples/quickstart/seed.yaml', 'utf8')
  sandbox = await startSandbox({ seed: parseSeed(seed, 'seed.yaml'), timeScale: 50 })
  folder = await mkdtemp(join(tmpdir(), 'espalier-windows-'))
  await writeFile(join(folder, 'closed.yaml'), CLOSED)
  await writeFile(join(folder, 'open.yaml'), OPEN)
})
afterAll(() => sandbox.close())

const run = (...args: readonly string[]) => espalier(args, environmentOf(sandbox), folder)

// hint: Next: run `espalier apply` again in the restart window…, or with --now to interrupt immediately.
test('outside the restart window, apply runs only harmless steps and exits with 5, and --now runs the others', async () => {
  const planned = await run('plan', 'closed.yaml')
  expect(planned.stdout).toMatch(/waits for its restart window: \w{3} 02:00–04:00 UTC, opens\s+\w{3} \d{4}-/)
  const applied = await run('apply', 'closed.yaml', '--auto-approve')
  expect(applied.code, applied.stdout + applied.stderr).toBe(5)
  expect(applied.stdout).toMatch(/scheduled\s+update primary "primary" on main/)
  expect(applied.stdout).toContain('Apply scheduled: 1 done, 1 scheduled.')
  expect(applied.stdout).toMatch(
    /Next: run `espalier apply closed.yaml` again in the\s+restart window from \d{4}-\d\d-\d\d\s+\d\d:\d\d\s+UTC\s+on/,
  )

  const rehearsed = await run('plan', 'closed.yaml', '--rehearse')
  expect(rehearsed.stderr).toContain('Rehearsed  1 step done on a sandbox')

  const journal = join(folder, 'journal')
  const now = await run('apply', 'closed.yaml', '--auto-approve', '--now', '--journal', journal)
  expect(now.code, now.stdout + now.stderr).toBe(0)
  expect(now.stdout).toContain('--now overrides')
  expect(now.stdout).toContain('Note --now: 1 step ran outside its restart window.')
  expect(await readFile(journal, 'utf8')).toContain('"type":"window-overridden"')
  expect((await run('plan', 'closed.yaml', '--detailed-exitcode')).code).toBe(0)
})

test('inside the restart window, apply runs all steps', async () => {
  await writeFile(join(folder, 'open.yaml'), OPEN.replace('size: 2', 'size: 4'))
  expect((await run('plan', 'open.yaml')).stdout).toContain('in its restart window, open now: daily 00:00–24:00 UTC')
  const applied = await run('apply', 'open.yaml', '--auto-approve')
  expect(applied.code, applied.stdout + applied.stderr).toBe(0)
})

test('a saved plan is stale once its restart window has been changed in the manifest', async () => {
  const file = join(folder, 'moving.yaml')
  await writeFile(file, CLOSED.replace('size: 2', 'size: 8'))
  await run('plan', 'moving.yaml', '--out', 'plan.json')
  await writeFile(file, OPEN.replace('size: 2', 'size: 8'))
  expect(await run('apply', 'plan.json', '--auto-approve')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('The manifests have changed.'),
  })
})
