/** Runs commands in a sandbox, on a terminal whose screen is then drawn. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Readable, Writable } from 'node:stream'
import xterm from '@xterm/headless'
import { systemClock } from '../../src/base/index.ts'
import { runProgram } from '../../src/cli/program.ts'
import type { Io } from '../../src/cli/setup/io.ts'
import { parseSeed, startSandbox } from '../../src/sandbox/index.ts'
import { writeFleet } from './fleet.ts'
import { terminalSvg } from './terminal-svg.ts'

export const COLUMNS = 80
/** For output with long lines. */
const WIDE = 120
/** The maximum number of rows. Longer output is cut off. */
export const MOST_ROWS = 60

export interface Stage {
  readonly folder: string
  readonly sandbox: Awaited<ReturnType<typeof startSandbox>>
}

/** @param fill writes the manifests to the folder. @returns the path of the seed. */
const withFiles = async <T>(fill: (folder: string) => string, use: (stage: Stage) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-pictures-'))
  const seed = fill(folder)
  const sandbox = await startSandbox({ seed: parseSeed(readFileSync(seed, 'utf8'), 'seed.yaml'), timeScale: 4 })
  try {
    return await use({ folder, sandbox })
  } finally {
    await sandbox.close()
    rmSync(folder, { recursive: true })
  }
}

export const withStage = <T>(
  use: (stage: Stage) => Promise<T>,
  projects: number,
  changes: number,
  perProject?: number,
  more?: Readonly<Record<string, unknown>>,
): Promise<T> => withFiles((folder) => writeFleet(folder, projects, changes, perProject, more).seed, use)

export const terminalOf = (columns: number, rows: number) =>
  new xterm.Terminal({ cols: columns, rows, scrollback: 1_000, convertEol: true, allowProposedApi: true })

/**
 * @param watch called each time the command has written output.
 * @param isLive whether stderr is shown too: progress and what is waited for, which depend on how fast the machine is.
 */
export const runOn = async (
  terminal: InstanceType<typeof xterm.Terminal>,
  { folder, sandbox }: Stage,
  args: readonly string[],
  watch: () => void = () => undefined,
  isLive = true,
): Promise<void> => {
  const stream = (isShown = true) =>
    Object.assign(
      new Writable({
        decodeStrings: false,
        write: (chunk: string | Buffer, _encoding, done) => {
          if (!isShown) return done()
          terminal.write(String(chunk), () => {
            watch()
            done()
          })
        },
      }),
      { isTTY: isShown, columns: terminal.cols, rows: terminal.rows },
    )
  const io: Io = {
    stdout: stream(),
    stderr: stream(isLive),
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

/** Runs a command, and draws all that it prints. */
export const drawn = async (
  stage: Stage,
  title: string,
  args: readonly string[],
  columns = COLUMNS,
): Promise<string> => {
  const terminal = terminalOf(columns, 50)
  await runOn(terminal, stage, args, undefined, false)
  return terminalSvg(terminal, title, 0, MOST_ROWS)
}

/** The pictures of plans, by file. They depend on no time, so a test compares them with what the program prints. */
export const PLANS: Readonly<Record<string, () => Promise<string>>> = {
  'plan-3-80.svg': () =>
    withFiles(
      (folder) => {
        cpSync('scripts/pictures/first', folder, { recursive: true })
        return join(folder, 'seed.yaml')
      },
      (stage) => drawn(stage, 'A plan: a compute restarts, one is moved, one is created', ['plan']),
    ),
  'plan-28-120.svg': () =>
    withStage((stage) => drawn(stage, 'A plan of 28 changes', ['plan', 'projects'], WIDE), 40, 28, 1),
}
