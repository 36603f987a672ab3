/** `status` and `operations` on a terminal fit its width, and `--watch` restores the screen. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { isLong } from '../long-runs.ts'
import { runInProcess } from '../terminal/in-process.ts'
import { CTRL_C } from '../terminal/interactions.ts'
import { hasTerminal, runOnTerminal } from '../terminal/pseudo-terminal.ts'
import { environmentOf } from './real-computes.ts'

let sandbox: Sandbox
let folder: string
beforeAll(async () => {
  sandbox = await startSandbox({
    seed: {
      projects: [
        {
          id: 'amber-field-20000002',
          name: 'billing',
          operations: 40,
          branches: [
            { name: 'main', computes: [{ id: 'ep-cool-dawn-a0000001', size: { min: 1, max: 4 } }] },
            { name: 'staging', computes: [{ id: 'ep-calm-lake-a0000002', size: 0.25, state: 'idle' }] },
            { name: 'preview/customer-portal-redesign', computes: [{ id: 'ep-old-moon-a0000003', size: 0.25 }] },
          ],
        },
      ],
    },
  })
  folder = await mkdtemp(join(tmpdir(), 'espalier-status-'))
  const branches = '{ main: { primary: { size: 2 } }, staging: { primary: {} } }'
  await writeFile(join(folder, 'espalier.yaml'), `version: 1\nproject: amber-field-20000002\nbranches: ${branches}\n`)
})
afterAll(() => sandbox.close())

/** The long run uses a real terminal. */
const runTerminal = isLong && hasTerminal ? runOnTerminal : runInProcess

const run = (args: readonly string[], columns: number, watch = false) =>
  runTerminal({
    args,
    cwd: folder,
    env: environmentOf(sandbox),
    columns,
    interactions: watch ? [{ after: 'Ctrl-C ends.', type: CTRL_C }] : [],
  })

describe('a terminal', () => {
  const cases: readonly (readonly [columns: number, args: readonly string[]])[] = [
    [80, ['status']],
    [120, ['status']],
    ...[80, 120].map((columns) => [columns, ['operations', 'list', '--limit', '5']] as const),
  ]
  test.each(cases)('with %i columns prints each row of espalier %j on one line', async (columns, args) => {
    const { code, lines } = await run(args, columns)
    expect(code).toBe(0)
    for (const line of lines) expect(line.length).toBeLessThan(columns)
    expect(lines.length).toBe(args[0] === 'status' ? 5 : 6)
    if (args[0] === 'status') expect(lines.join('\n').replaceAll(/\d+s$/gm, 'AGE')).toMatchSnapshot()
  })

  test('shows the progress of a long read and then erases it', async () => {
    sandbox.control.addFault({
      on: 'request',
      path: '/projects/*/endpoints',
      effect: { kind: 'latency', ms: 1_500 },
    })
    const { code, all, lines } = await run(['status', '-o', 'name'], 80)
    expect(code).toBe(0)
    expect(all).toMatch(/Reading projects 0\/1 {2}\d+ s {2}rate limit \d+\/700 left/)
    expect(lines.join('\n')).not.toContain('Reading')
  })

  test.each([[['status', '--watch']], [['operations', 'watch']]])('is restored after espalier %j', async (args) => {
    const { code, lines, all } = await run(args, 80, true)
    expect(code).toBe(0)
    expect(all).toContain('main')
    expect(lines).toEqual([])
  })
})
