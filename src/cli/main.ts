#!/usr/bin/env node
import module from 'node:module'
import { VERSION } from '../model/version.ts'
import { keptHelp } from './kept-help.ts'

// A reader that went away (`| head`) is no reason for noise, nor for an apply to stop half way.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}

const args = process.argv.slice(2)
const isHelp = args.length === 0 || (args.length === 1 && (args[0] === '--help' || args[0] === '-h'))
const help = isHelp ? keptHelp(process.stdout) : undefined
if (help !== undefined) {
  process.stdout.write(help)
} else if (args.length === 1 && (args[0] === '--version' || args[0] === 'version')) {
  process.stdout.write(`${VERSION}\n`)
} else {
  // Node 20 has none.
  ;(module as { enableCompileCache?: () => void }).enableCompileCache?.()
  // Loaded only here, so that the version and the help cost little more than starting Node.
  const { runPlain } = await import('./run-plain.ts')
  process.exitCode = (await runPlain(args)) ?? (await (await import('./program.ts')).runProgram(args))
}
