/** A message names the first cause of a mistake, and not a consequence of it or advice for another command. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { espalier, start } from './espalier.ts'
import { environmentOf } from './real-computes.ts'

let sandbox: Sandbox
let folder: string
beforeAll(async () => {
  sandbox = await startSandbox({
    seed: {
      projects: [
        {
          id: 'shop',
          branches: [
            {
              name: 'main',
              computes: [
                { id: 'ep-main', size: 1 },
                { id: 'ep-reporting', type: 'read_only', name: 'reporting', size: 1 },
                { id: 'ep-nameless', type: 'read_only', size: 1 },
              ],
            },
          ],
        },
      ],
    },
  })
  folder = await mkdtemp(join(tmpdir(), 'espalier-cause-'))
  await writeFile(join(folder, 'espalier.yaml'), 'version: 1\nproject: shop\nbranches: { main: { primary: {} } }\n')
  await writeFile(join(folder, 'bad.yaml'), 'version: 1\nbranches: { main: { primary: {} } }\n')
})
afterAll(() => sandbox.close())

test.each([
  [['apply', 'nope.json'], 'nope.json', /E_CONSENT/],
  [['apply', 'nope.yaml'], 'nope.yaml', /E_CONSENT/],
  [['apply', 'bad.yaml'], 'E_REQUIRED', /E_CONSENT/],
  [['apply', '--introduced'], '--introduced needs --base REF.', /E_CONSENT/],
  [['apply', 'plan.json', '--introduced'], '--introduced cannot be combined with a saved plan', /--base/],
  [['apply'], 'E_CONSENT', /never/],
  [['agent', 'run', '-'], 'The agent follows files, so it cannot read - (stdin).', /Page/],
  [['drift'], 'Run the command in the repository of the manifests.', /plan --base|without --base/],
  [['validate', 'bad.yaml'], 'Add `project` with the project id.', /quiet-river/],
  [['operations', 'list', '--compute', 'ep-nope'], 'the project has no such compute. hint: It has', /No operations/],
  [['operations', 'watch', '--compute', 'nope'], 'the project has no such compute.', /No operations/],
  [['operations', 'list', '--action', 'aply_config'], 'Did you mean `apply_config`?', /No operations/],
  [['compute', 'start', 'nope'], 'The project has main, main/reporting, ep-nameless.', /br-/],
])('espalier %j reports the first cause: %s', async (args, words, not) => {
  const { code, stdout, stderr } = await espalier(args, environmentOf(sandbox), folder)
  expect(code).toBe(1)
  expect((stdout + stderr).replace(/\s+/g, ' ')).toContain(words)
  expect(stdout + stderr).not.toMatch(not)
})

test('operations list prints a message and no header if no operation matches', async () => {
  const ended = await espalier(['operations', 'list', '--action', 'nope'], environmentOf(sandbox), folder)
  expect(ended).toEqual({
    code: 0,
    stdout: '',
    stderr: 'Note  `nope` is not a known action.\nNo operations match.\n',
  })
})

// hint: Choose one with --port, or set ESPALIER_BASE_URL.
test('sandbox connect uses the sandbox that ESPALIER_BASE_URL names', async () => {
  const env = { TMPDIR: folder }
  const serve = async () => {
    const served = start(['sandbox', 'serve', '--port', '0', '--computes', 'simulated'], env, folder)
    onTestFinished(() => served.interrupt('SIGTERM'))
    await served.says('Computes  simulated')
    return /API {2}(\S+)/.exec(served.sofar.stdout)?.[1] ?? ''
  }
  const [one = ''] = [await serve(), await serve()]
  const either = await espalier(['sandbox', 'connect', 'main'], env, folder)
  expect(either.stderr).toContain('2 sandboxes are running')
  const byPort = await espalier(['sandbox', 'connect', 'main', '--port', new URL(one).port], env, folder)
  expect(byPort.stderr).not.toContain('2 sandboxes are running')
  const named = await espalier(['sandbox', 'connect', 'main'], { ...env, ESPALIER_BASE_URL: one }, folder)
  expect(named.stderr).not.toContain('2 sandboxes are running')
})
