/** `apply` on a terminal with colours: whatever the outcome of a step, the run ends and shows each outcome once. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.ts'
import { isLong, longTest, part } from '../long-runs.ts'
import { runInProcess } from '../terminal/in-process.ts'
import { CTRL_C, type Interaction } from '../terminal/interactions.ts'
import { hasTerminal, runOnTerminal } from '../terminal/pseudo-terminal.ts'
import { ROOT } from './espalier.ts'
import { environmentOf } from './real-computes.ts'

const SIZES = [
  [80, 24],
  [120, 40],
] as const

interface Outcome {
  readonly what: string
  /** Branches of each project, as YAML. */
  readonly branches: string
  readonly more?: string
  readonly flags?: readonly string[]
  readonly interactions?: readonly Interaction[]
  readonly code: number
  /** Expected on the screen, once for each project. */
  readonly once: readonly string[]
  /** How the result of a step starts that has the same error in each project. Expected once. */
  readonly alike?: string
  readonly closing: (projects: number) => string
}

const YES: Interaction = { after: "Only 'yes' will be accepted: ", type: 'yes\n' }
/** A weekday that is neither today nor adjacent to it. */
const FAR = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'][(new Date().getUTCDay() + 3) % 7]

const OUTCOMES: readonly Outcome[] = [
  {
    what: 'deletes an idle compute, which is done immediately',
    branches: 'idle: { primary: absent }',
    flags: ['--auto-approve', '--allow', 'delete'],
    code: 0,
    once: ['done delete primary on idle'],
    closing: (projects) => `Apply complete: ${projects} done.`,
  },
  {
    what: 'takes a while',
    branches: 'main: { primary: { size: 2 } }',
    flags: ['--auto-approve'],
    code: 0,
    once: ['done update primary on main'],
    closing: (projects) => `Apply complete: ${projects} done.`,
  },
  {
    what: 'was declined at the prompt',
    branches: 'idle: { primary: absent }',
    interactions: [YES, { after: '(yes/no) ', type: 'no\n' }],
    code: 3,
    once: ['delete primary on idle'],
    closing: (projects) => `Apply incomplete: 0 done, ${projects} not allowed.`,
  },
  {
    what: 'is a delete without --allow',
    branches: 'main: { primary: absent }',
    flags: ['--auto-approve'],
    code: 3,
    once: ['delete primary on main'],
    closing: (projects) => `Apply incomplete: 0 done, ${projects} not allowed.`,
  },
  {
    what: 'waits for its restart window',
    branches: 'main: { primary: { size: 2 } }',
    more: `restartWindow: { days: [${FAR}], from: "02:00", to: "04:00", timezone: UTC }`,
    flags: ['--auto-approve'],
    code: 5,
    once: ['update primary on main'],
    closing: (projects) => `Apply scheduled: 0 done, ${projects} scheduled.`,
  },
  {
    what: 'is skipped because an earlier step failed',
    branches: 'refused: { primary: { id: ep-main-N } }\n  broken: { primary: {} }\n  idle: { primary: {} }',
    more: 'prune: true',
    flags: ['--auto-approve', '--allow', 'delete,move,disconnect'],
    code: 3,
    once: ['skipped move primary from main to refused'],
    alike: 'failed delete primary on refused',
    closing: (projects) => `Apply incomplete: 0 done, ${projects} failed, ${projects} skipped.`,
  },
  {
    what: 'fails before it starts',
    branches: 'refused: { primary: { size: 2 } }',
    flags: ['--auto-approve'],
    code: 3,
    once: [],
    alike: 'failed update primary on refused',
    closing: (projects) => `Apply incomplete: 0 done, ${projects} failed.`,
  },
  {
    what: 'fails after it started',
    branches: 'broken: { primary: { size: 2 } }\n  main: { replicas: { after: { size: 1 } } }',
    flags: ['--auto-approve'],
    code: 3,
    once: ['failed update primary on broken', 'done create replica "after" on main'],
    closing: (projects) => `Apply incomplete: ${projects} done, ${projects} failed.`,
  },
]

/** More projects than all tests together use. */
const PROJECTS = 90

const openSandbox = (options: Pick<SandboxOptions, 'timeScale'>) =>
  startSandbox({
    seed: {
      projects: Array.from({ length: PROJECTS }, (_, n) => ({
        id: `shop-${n}`,
        branches: [
          { name: 'main', computes: [{ id: `ep-main-${n}`, size: 1, scaleToZero: 'never' }] },
          { name: 'idle', computes: [{ id: `ep-idle-${n}`, size: 1, state: 'idle' }] },
          { name: 'refused', computes: [{ id: `ep-refused-${n}`, size: 1 }] },
          // Its suspension would fail too, and again after each attempt.
          { name: 'broken', computes: [{ id: `ep-broken-${n}`, size: 1, scaleToZero: 'never' }] },
          { name: 'spare' },
        ],
      })),
    },
    background: false,
    ...options,
  })

let sandbox: Sandbox
let folder: string
beforeAll(async () => {
  sandbox = await openSandbox({ timeScale: 20 })
  for (let n = 0; n < PROJECTS; n += 1) {
    sandbox.control.addFault({
      on: 'operation',
      endpoint_id: `ep-broken-${n}`,
      effect: { kind: 'error', message: 'no host had room' },
      times: 0,
    })
  }
  sandbox.control.addFault({
    on: 'request',
    path: '/projects/*/endpoints/ep-refused-*',
    effect: { kind: 'status', status: 422, message: 'the host is out of room' },
    times: 0,
  })
  folder = await mkdtemp(join(tmpdir(), 'espalier-terminal-'))
})
afterAll(() => sandbox.close())

let nextProject = 0
/** Manifests of projects that no other test uses. */
const manifestsOf = async (count: number, branches: string, more = ''): Promise<readonly string[]> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const n = nextProject++
      const path = join(folder, `${n}.yaml`)
      const text = `version: 1\nproject: shop-${n}\n${more}\nbranches:\n  ${branches}\n`
      await writeFile(path, text.replaceAll('-N', `-${n}`))
      return path
    }),
  )

const occurrences = (text: string, part: string): number => text.split(part).length - 1

/** The long run uses a real terminal. */
const run = isLong && hasTerminal ? runOnTerminal : runInProcess

describe('the live view', () => {
  const cases = OUTCOMES.flatMap((outcome, index) =>
    SIZES.map(([columns, rows], size) => ({ ...outcome, columns, rows, projects: ((index + size) % 3) + 1 })),
  )
  // By default, each outcome is tested at one size.
  // promise: outcomes-on-terminal
  test.for(cases.filter((_, index) => isLong || index % 4 === 0 || index % 4 === 3))(
    'shows the outcome once at $columns columns with $projects project(s): a step that $what',
    async ({ columns, rows, projects, branches, more, flags = [], interactions = [], code, once, alike, closing }) => {
      const paths = await manifestsOf(projects, branches, more)
      const ended = await run({
        args: ['apply', ...paths, ...flags],
        cwd: folder,
        env: environmentOf(sandbox),
        columns,
        rows,
        interactions,
      })
      expect({ code: ended.code, missed: ended.missed }, ended.lines.join('\n')).toEqual({ code, missed: [] })
      // The plan and the prompts name the step too, so look only at the outcome.
      const after = ended.text.slice(Math.max(ended.text.lastIndexOf('Plan: '), ended.text.lastIndexOf('(yes/no) ')))
      for (const part of once) expect(occurrences(after, part), ended.lines.join('\n')).toBe(projects)
      // Only the first of several steps with the same error is shown as a whole.
      if (alike !== undefined) expect(occurrences(after, alike), ended.lines.join('\n')).toBe(1)
      if (alike !== undefined && projects > 1) expect(after).toContain(`failed ${projects} steps`)
      expect(ended.lines.at(-1)).toBe(closing(projects))
      // The live view is erased.
      expect(ended.lines.filter((line) => /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] /.test(line))).toEqual([])
    },
  )
})

const EXAMPLE = join(ROOT, 'examples/restore')

describe.skipIf(!hasTerminal || !isLong)(
  'the restore example on a terminal (skipped without script from util-linux)',
  () => {
    test.each(SIZES)('exits within a second when the answers are yes and then no, at %ix%i', async (columns, rows) => {
      const state = await mkdtemp(join(tmpdir(), 'espalier-state-'))
      const ended = await runOnTerminal({
        args: ['apply', join(EXAMPLE, 'espalier.yaml'), `--sandbox=${join(EXAMPLE, 'seed.yaml')}`],
        cwd: state,
        columns,
        rows,
        interactions: [YES, { after: '(yes/no) ', type: 'no\n' }],
      })
      expect({ code: ended.code, missed: ended.missed }, ended.lines.join('\n')).toEqual({ code: 3, missed: [] })
      expect(ended.lines.at(-1)).toMatch(/^Apply incomplete: 0 done/)
      expect(ended.lastMs).toBeLessThan(1_000)
    })
  },
)

describe.skipIf(!hasTerminal)('an apply on a terminal (skipped without script from util-linux)', () => {
  let slow: Sandbox
  beforeAll(async () => {
    slow = await openSandbox({ timeScale: 1 })
  })
  afterAll(() => slow.close())

  const STOPPING = 'Stopping: no new step starts'
  const all = SIZES.flatMap(([columns, rows]) => [1, 2, 3].map((projects) => ({ columns, rows, projects })))

  // promise: interrupt-on-terminal
  longTest.concurrent.for(all)(
    'reports a single Ctrl-C immediately and exits after the step, with $projects project(s) at $columns columns',
    async ({ columns, rows, projects }, { expect }) => {
      const ended = await runSlowly(columns, rows, projects, [{ after: 'apply_config running', type: CTRL_C }])
      expect(ended.code, ended.all).toBe(130)
      expect(occurrences(ended.text, STOPPING)).toBe(1)
      // The confirmation is visible while the step still runs.
      expect(ended.all.indexOf(STOPPING)).toBeLessThan(ended.all.indexOf('done  update'))
      expect(ended.all).toMatch(/Stopping \d\/\d/)
      const project = projects === 1 ? '' : 'shop-\\d+ +'
      expect(ended.all).toMatch(
        new RegExp(`  ${project}broken +update primary +! restarts +\\d s +apply_config running`),
      )
      expect(ended.lines.at(-1)).toMatch(/^Apply incomplete: [1-3] done, [1-5] skipped\.$/)
    },
  )

  longTest.concurrent.for(all)(
    'exits immediately after a second Ctrl-C, with $projects project(s) at $columns columns',
    async ({ columns, rows, projects }, { expect }) => {
      const ended = await runSlowly(columns, rows, projects, [
        { after: 'apply_config running', type: CTRL_C },
        { after: STOPPING, type: CTRL_C },
      ])
      expect({ code: ended.code, missed: ended.missed }, ended.all).toEqual({ code: 130, missed: [] })
      expect(ended.text).toContain('Stopping immediately.')
      expect(ended.lines.at(-1)).toMatch(/^Apply incomplete: 0 done, [1-3] failed, [1-5] skipped\.$/)
    },
  )

  longTest.concurrent('handles SIGTERM like Ctrl-C', async ({ expect }) => {
    const ended = await runSlowly(80, 24, 2, [{ after: 'apply_config running', signal: 'SIGTERM' }])
    expect(ended.code, ended.all).toBe(130)
    expect(occurrences(ended.text, STOPPING)).toBe(1)
    expect(ended.all.indexOf(STOPPING)).toBeLessThan(ended.all.indexOf('done  update'))
  })

  const resizes = [
    [120, 40, 60, 10],
    [80, 24, 120, 40],
    [120, 40, 80, 24],
  ] as const
  test.for(part(resizes, 3))(
    'continues after a resize from %ix%i to %ix%i and shows each outcome once',
    async ([columns, rows, to, tall]) => {
      const ended = await runSlowly(columns, rows, 1, [{ after: 'apply_config running', resize: [to, tall] }], run)
      expect({ code: ended.code, missed: ended.missed }, ended.all).toEqual({ code: 0, missed: [] })
      expect(occurrences(ended.text, 'done update primary on')).toBe(2)
      expect(ended.lines.at(-1)).toBe('Apply complete: 2 done.')
      // On a real terminal, a drawing that was written during the resize may remain.
      if (run === runInProcess) expect(ended.lines.filter((line) => /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] /.test(line))).toEqual([])
    },
  )

  /** Two slow steps in each project. */
  const runSlowly = async (
    columns: number,
    rows: number,
    projects: number,
    interactions: readonly Interaction[],
    on = runOnTerminal,
  ) => {
    const paths = await manifestsOf(projects, 'broken: { primary: { size: 2 } }\n  main: { primary: { size: 2 } }')
    return on({
      args: ['apply', ...paths, '--auto-approve'],
      cwd: folder,
      env: environmentOf(slow),
      columns,
      rows,
      interactions,
    })
  }
})
