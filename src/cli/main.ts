#!/usr/bin/env node
import module from 'node:module'
import { VERSION } from '../base/version.ts'
import { cachedHelp } from './cached-help.ts'
import type { Io } from './io.ts'

// If the reader of a pipe goes away (`| head`), no error is printed, and an apply does not stop halfway.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}

const args = process.argv.slice(2)
const isHelp = args.length === 0 || (args.length === 1 && (args[0] === '--help' || args[0] === '-h'))
const help = isHelp ? cachedHelp(process.stdout) : undefined
if (help !== undefined) {
  process.stdout.write(help)
} else if (args.length === 1 && (args[0] === '--version' || args[0] === 'version')) {
  process.stdout.write(`${VERSION}\n`)
} else {
  // Node 20 does not have this function.
  ;(module as { enableCompileCache?: () => void }).enableCompileCache?.()
  // The program is loaded only now, so that --version and --help are fast.
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
  process.exitCode = await runProgram(args, io)
}
