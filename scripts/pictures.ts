/** Runs commands in a sandbox, and renders their terminal output as pictures in docs/images: `npm run pictures`. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Readable, Writable } from 'node:stream'
import xterm from '@xterm/headless'
import { systemClock } from '../src/base/index.ts'
import { runProgram } from '../src/cli/program.ts'
import type { Io } from '../src/cli/setup/io.ts'
import { parseSeed, startSandbox } from '../src/sandbox/index.ts'
import { writeFleet } from './pictures/fleet.ts'
import { terminalSvg } from './pictures/terminal-svg.ts'

const COLUMNS = 80
/** For output with long lines. */
const WIDE = 120
/** The maximum number of rows. Longer output is cut off. */
const MOST_ROWS = 60

interface Stage {
  readonly folder: string
  readonly paths: readonly string[]
  readonly sandbox: Awaited<ReturnType<typeof startSandbox>>
}

const withStage = async (
  use: (stage: Stage) => Promise<void>,
  projects: number,
  changes: number,
  perProject?: number,
  more?: Readonly<Record<string, unknown>>,
): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-pictures-'))
  const { seed, paths } = writeFleet(folder, projects, changes, perProject, more)
  const sandbox = await startSandbox({ seed: parseSeed(readFileSync(seed, 'utf8'), 'seed.yaml'), timeScale: 4 })
  try {
    await use({ folder, paths, sandbox })
  } finally {
    await sandbox.close()
    rmSync(folder, { recursive: true })
  }
}

const terminalOf = (columns: number, rows: number) =>
  new xterm.Terminal({ cols: columns, rows, scrollback: 1_000, convertEol: true, allowProposedApi: true })

/** @param watch called each time the command has written output. */
const runOn = async (
  terminal: InstanceType<typeof xterm.Terminal>,
  { folder, sandbox }: Stage,
  args: readonly string[],
  watch: () => void = () => undefined,
): Promise<void> => {
  const stream = () =>
    Object.assign(
      new Writable({
        decodeStrings: false,
        write: (chunk: string | Buffer, _encoding, done) => {
          terminal.write(String(chunk), () => {
            watch()
            done()
          })
        },
      }),
      { isTTY: true, columns: terminal.cols, rows: terminal.rows },
    )
  const io: Io = {
    stdout: stream(),
    stderr: stream(),
    stdin: Readable.from([]),
    env: { PATH: process.env.PATH, ESPALIER_BASE_URL: sandbox.apiUrl, ESPALIER_API_KEY: sandbox.apiKey, TERM: 'xterm' },
    cwd: folder,
    locate: (path) => resolve(folder, path),
    clock: systemClock,
    onSignal: () => () => undefined,
  }
  await runProgram(args, io)
  await new Promise<void>((done) => terminal.write('', done))
}

/** @param from the first line that is rendered. */
const draw = (
  name: string,
  title: string,
  terminal: InstanceType<typeof xterm.Terminal>,
  from = terminal.buffer.active.baseY,
): void => {
  const file = `docs/images/${name}-${terminal.cols}.svg`
  writeFileSync(file, terminalSvg(terminal, title, from, MOST_ROWS))
  console.log(file)
}

const picture = async (
  name: string,
  title: string,
  stage: Stage,
  args: readonly string[],
  columns = COLUMNS,
): Promise<void> => {
  const terminal = terminalOf(columns, 50)
  await runOn(terminal, stage, args)
  draw(name, title, terminal, 0)
}

const plans = [
  [1, 3, 3, COLUMNS],
  [40, 28, 1, WIDE],
] as const
for (const [projects, changes, perProject, columns] of plans) {
  await withStage(
    (stage) => picture(`plan-${changes}`, `A plan of ${changes} changes`, stage, ['plan', 'projects'], columns),
    projects,
    changes,
    perProject,
  )
}

/** The day of a restart window that is closed today. */
const dayAfterTomorrow = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'][(new Date().getUTCDay() + 2) % 7]
const CLOSED = { restartWindow: { days: [dayAfterTomorrow], from: '02:00', to: '04:00', timezone: 'UTC' } }

await withStage(
  async (stage) => {
    const { control } = stage.sandbox
    control.addFault({
      on: 'operation',
      endpoint_id: 'ep-main-03a1b2c3d4',
      effect: { kind: 'error', message: 'no host had room' },
    })
    const ended = terminalOf(COLUMNS, 30)
    let isDrawn = false
    const watch = (): void => {
      const { active } = ended.buffer
      const lines = Array.from(
        { length: active.length },
        (_, row) => active.getLine(row)?.translateToString(true) ?? '',
      )
      if (isDrawn || !lines.some((line) => /Applying [4-9]\/\d+/.test(line))) return
      isDrawn = true
      // Draw the current screen while the command continues.
      draw('apply-running', 'A running apply', ended)
    }
    await runOn(ended, stage, ['apply', 'projects', '--auto-approve'], watch)
    draw('apply-ended', 'A completed apply with failed, scheduled and not allowed steps', ended)
  },
  8,
  24,
  3,
  { storefront: CLOSED, search: CLOSED },
)

await withStage(
  async (stage) => {
    await picture('status', 'The computes of three projects', stage, ['status', 'projects'])
  },
  3,
  7,
  3,
)

await withStage(
  async (stage) => {
    const { apiUrl, apiKey } = stage.sandbox
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: stage.folder })
    git('init', '-q')
    git('add', '.')
    git('commit', '-qm', 'Manifests')
    const file = join(stage.folder, 'projects/search.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('primary: {}', 'primary:\n      size: 2'))
    const change = (method: string, path: string, body?: unknown) =>
      fetch(`${apiUrl}/projects/${path}`, {
        method,
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    const size = { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 4 }
    const [billing, storefront] = ['billing-10000000', 'storefront-17654321']
    await change('PATCH', `${billing}/endpoints/ep-main-00a1b2c3d4`, { endpoint: size })
    await change('DELETE', `${storefront}/endpoints/ep-staging-01a1b2c3d4`)
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    await picture('drift', 'Manual changes, and changes from the manifests', stage, ['drift', 'projects'])
  },
  3,
  0,
  1,
  { billing: { defaults: { size: 1 } } },
)
