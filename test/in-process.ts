/** Runs the program in-process, with its own streams, folder, environment and signals. */
import { EventEmitter } from 'node:events'
import { resolve } from 'node:path'
import { Readable, Writable } from 'node:stream'
import type { Clock, OnSignal } from '../src/base/index.ts'
import type { Io } from '../src/cli/setup/io.ts'
import { quickClock } from './quick-clock.ts'

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  /** Resolves once stdout or stderr contains `text`. */
  says(text: string): Promise<void>
  /** The output so far. */
  readonly sofar: Omit<Ended, 'code'>
  readonly ended: Promise<Ended>
  /** Default: SIGINT, as from Ctrl-C. */
  interrupt(signal?: 'SIGINT' | 'SIGTERM'): void
}

export type Environment = Readonly<Record<string, string>>

/** Does not inherit variables that configure the program. */
export const environment = (env: Environment): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  TMPDIR: process.env.TMPDIR,
  ...env,
})

/** Collects output, and notifies those who wait for it. */
export class Output {
  readonly #printed = { stdout: '', stderr: '' }
  readonly #waiting = new Set<() => void>()

  add(name: 'stdout' | 'stderr', text: string): void {
    this.#printed[name] += text
    for (const check of this.#waiting) check()
  }

  get sofar(): Omit<Ended, 'code'> {
    return { ...this.#printed }
  }

  says(text: string, ended: Promise<unknown>): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        const { stdout, stderr } = this.#printed
        if (!stdout.includes(text) && !stderr.includes(text)) return
        this.#waiting.delete(check)
        resolve()
      }
      this.#waiting.add(check)
      ended.then(() => {
        const { stdout, stderr } = this.#printed
        reject(new Error(`it exited without printing ${text}:\n${stdout}${stderr}`))
      }, reject)
      check()
    })
  }
}

interface Surroundings {
  readonly env?: Environment
  readonly cwd: string
  /** Piped input. */
  readonly stdin?: string
  readonly clock?: Required<Clock>
}

export const fakeIo = ({ env = {}, cwd, stdin = '', clock = quickClock() }: Surroundings) => {
  const output = new Output()
  const signals = new EventEmitter()
  const early = new Set<string>()
  const stream = (name: 'stdout' | 'stderr'): Writable =>
    new Writable({
      decodeStrings: false,
      write: (chunk: string | Buffer, _encoding, done) => {
        output.add(name, String(chunk))
        done()
      },
    })
  const io: Io = {
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    stdin: Readable.from(stdin === '' ? [] : [Buffer.from(stdin)]),
    env: environment(env),
    cwd,
    locate: (path) => resolve(cwd, path),
    clock,
    onSignal: (signal, handle) => {
      signals.on(signal, handle)
      if (early.delete(signal)) queueMicrotask(handle)
      return () => void signals.off(signal, handle)
    },
  }
  /** A signal sent before the program listens is delivered once it does. */
  const send = (signal: Parameters<OnSignal>[0]): void => {
    if (!signals.emit(signal)) early.add(signal)
  }
  return { io, output, send }
}

export const startInProcess = (args: readonly string[], surroundings: Surroundings): Running => {
  const { io, output, send } = fakeIo(surroundings)
  const run = async (): Promise<Ended> => {
    // Loaded lazily, because tests that only start processes do not need it.
    const { runProgram } = await import('../src/cli/program.ts')
    const code = await runProgram(args, io)
    return { code, ...output.sofar }
  }
  const ended = run()
  return {
    ended,
    get sofar() {
      return output.sofar
    },
    says: (text) => output.says(text, ended),
    interrupt: (signal = 'SIGINT') => send(signal),
  }
}
