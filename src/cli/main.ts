#!/usr/bin/env node
import { VERSION } from '../model/version.ts'

// A reader that went away (`| head`) is no reason for noise, nor for an apply to stop half way.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}

const args = process.argv.slice(2)
if (args.length === 1 && (args[0] === '--version' || args[0] === 'version')) {
  process.stdout.write(`${VERSION}\n`)
} else {
  // Loaded only here, so that the version costs nothing more than starting Node.
  const { runProgram } = await import('./program.ts')
  process.exitCode = await runProgram(args)
}
