#!/usr/bin/env node
import { VERSION } from '../base/version.ts'
import type { Io } from './setup/io.ts'

// An import of `node:fs`, like `process.stdout`, loads Node's streams, which takes longer than the rest of --version.
const fs = process.getBuiltinModule('node:fs')

/** Defined only in the single executable, which has no files to read the help from. */
declare const __ESPALIER_HELP__: Readonly<Record<number, string>> | undefined

/** The widths that the help has in pipes and on wide terminals. See help.ts. */
const PIPED = 100
const WIDE = 110

/**
 * The program's help. It is rendered at build time, because `--help` would spend most of its time on rendering.
 *
 * @returns `undefined` if the help must be rendered now, because the terminal is narrow or the program runs from source.
 */
const cachedHelp = ({ isTTY, columns = PIPED }: { isTTY?: boolean; columns?: number }): string | undefined => {
  const width = isTTY === true ? Math.min(columns, WIDE) : PIPED
  if (width !== PIPED && width !== WIDE) return undefined
  if (typeof __ESPALIER_HELP__ === 'object') return __ESPALIER_HELP__[width]
  try {
    return fs.readFileSync(new URL(`help/${width}.txt`, import.meta.url), 'utf8')
  } catch {
    return undefined
  }
}

let isOutputLost = false

// If the reader of a pipe goes away (`| head`) or the disk is full, an apply does not stop halfway.
const keepOn = ({ code, message }: NodeJS.ErrnoException): void => {
  if (code === 'EPIPE' || isOutputLost) return
  isOutputLost = true
  process.exitCode ||= 1
  try {
    fs.writeSync(2, `error  The output cannot be written: ${message}\n`)
  } catch {
    // stderr is on the same disk.
  }
}

const args = process.argv.slice(2)
const isHelp = args.length === 0 || (args.length === 1 && (args[0] === '--help' || args[0] === '-h'))
if (args.length === 1 && (args[0] === '--version' || args[0] === 'version')) {
  try {
    fs.writeSync(1, `${VERSION}\n`)
  } catch (error) {
    keepOn(error as NodeJS.ErrnoException)
  }
} else {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', keepOn)
  const help = isHelp ? cachedHelp(process.stdout) : undefined
  if (help === undefined) await run()
  else process.stdout.write(help)
}

/** Everything else is loaded only here, so that --version and --help are fast. */
async function run(): Promise<void> {
  const { default: module } = await import('node:module')
  // Node 20 does not have this function.
  ;(module as { enableCompileCache?: () => void }).enableCompileCache?.()
  const { onProcessSignal, systemClock } = await import('../base/index.ts')
  const io: Io = {
    stdout: process.stdout,
    stderr: process.stderr,
    // This is a getter, because accessing `process.stdin` opens it.
    get stdin() {
      return process.stdin
    },
    env: process.env,
    cwd: process.cwd(),
    locate: (path) => path,
    clock: systemClock,
    onSignal: onProcessSignal,
  }
  const { runProgram } = await import('./program.ts')
  process.exitCode = (await runProgram(args, io)) || (isOutputLost ? 1 : 0)
}
