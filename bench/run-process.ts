/** Runs a command, and measures how much time, CPU and memory it uses. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { text } from 'node:stream/consumers'

export interface Took {
  /** Wall-clock time. */
  readonly ms: number
  /** The user and system time, including that of child processes. Absent if GNU time is not installed. */
  readonly cpuMs?: number
  /** The peak memory of the largest process. Absent if GNU time is not installed. */
  readonly peakMiB?: number
  readonly stdout: string
}

export interface HowToRun {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  /** Whether to return the output. By default, it is discarded. */
  readonly keepOutput?: boolean
  /** The exit codes that mean success. Default: only 0. */
  readonly exits?: readonly number[]
}

const GNU_TIME = '/usr/bin/time'
const hasTime = process.platform === 'linux' && existsSync(GNU_TIME)
export const NO_TIME = 'CPU and peak memory, because GNU time is not installed at /usr/bin/time.'
export const timeIsMissing = !hasTime

const folder = mkdtempSync(join(tmpdir(), 'espalier-bench-time-'))
let count = 0

/** @throws if the exit code is not one of `how.exits`. */
export const run = async (command: string, args: readonly string[], how: HowToRun = {}): Promise<Took> => {
  count += 1
  const measured = join(folder, String(count))
  const [program, words] = hasTime
    ? [GNU_TIME, ['-q', '-f', '%U %S %M', '-o', measured, command, ...args]]
    : [command, [...args]]
  const began = performance.now()
  const child = spawn(program, words, {
    cwd: how.cwd,
    env: { PATH: process.env.PATH, HOME: folder, ...how.env },
    stdio: ['pipe', how.keepOutput === true ? 'pipe' : 'ignore', 'pipe'],
  })
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(how.input)
  const closed = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  const [code, stdout, stderr] = await Promise.all([
    closed.then((exit) => ({ exit, ms: performance.now() - began })),
    child.stdout === null ? '' : text(child.stdout),
    child.stderr === null ? '' : text(child.stderr),
  ])
  if (!(how.exits ?? [0]).includes(code.exit ?? -1)) {
    throw new Error(
      `${command} ${args.slice(0, 3).join(' ')} … exited with ${code.exit}:\n${stderr}${stdout.slice(-2_000)}`,
    )
  }
  if (!hasTime) return { ms: code.ms, stdout }
  const [user = 0, system = 0, peakKiB = 0] = readFileSync(measured, 'utf8').trim().split(' ').map(Number)
  return { ms: code.ms, cpuMs: (user + system) * 1_000, peakMiB: peakKiB / 1024, stdout }
}

/** Runs a script with Node. */
export const node = (args: readonly string[], how: HowToRun = {}): Promise<Took> => run(process.execPath, args, how)
