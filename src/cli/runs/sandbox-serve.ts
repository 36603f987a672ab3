import { defined } from '../../base/index.ts'
import { EspalierError, EXIT, type ExitCode } from '../../model/index.ts'
import { readFaults, readSeed, type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/index.ts'
import type { ServeFlags } from '../commands/sandbox.ts'
import { type Io, onStop } from '../io.ts'
import { register } from '../sandbox-registry.ts'
import { print } from '../terminal.ts'

/** The default ports. If one of them is taken, a free port is used instead. */
const DEFAULT_PORT = 7788
const DEFAULT_PG_PORT = 7799

/** Runs the sandbox until it receives a signal or its output is closed. */
export const runSandboxServe = async (flags: ServeFlags, io: Io): Promise<ExitCode> => {
  const faults = flags.faults === undefined ? [] : await readFaults(io.locate(flags.faults))
  // The address and the key must be printed first, so log lines from before that are buffered.
  const early: string[] = []
  let log = (line: string): void => void early.push(line)
  const sandbox = await startWithComputes(flags, io, {
    port: flags.port ?? DEFAULT_PORT,
    anyPort: flags.port === undefined,
    rateLimits: flags.rateLimits === true,
    ...defined({
      stateDir: flags.state === undefined ? undefined : io.locate(flags.state),
      seed: flags.seed === undefined ? undefined : await readSeed(io.locate(flags.seed)),
      timeScale: flags.timeScale,
      apiKey: flags.key,
    }),
    log: (line) => log(line),
  })
  for (const fault of faults) sandbox.control.addFault(fault)
  // The sandbox is registered before its address is printed, because a reader of the address may connect immediately.
  const unregister = register(
    {
      pid: process.pid,
      port: Number(new URL(sandbox.apiUrl).port),
      controlUrl: sandbox.controlUrl,
      controlToken: sandbox.controlToken,
    },
    io,
  )
  print(`API  ${sandbox.apiUrl}`, io.stdout)
  print(`Key  ${sandbox.apiKey}`, io.stdout)
  print(`Control  ${sandbox.controlUrl}  ${sandbox.controlToken}`, io.stdout)
  print(`Computes  ${sandbox.control.computesDescription}`, io.stdout)
  for (const warning of sandbox.warnings) print(`Warning  ${warning}`, io.stderr)
  // Without this note, users would think that the seed was used.
  if (sandbox.isSeedIgnored) {
    print(
      `Note  The sandbox in ${flags.state} already exists, so --seed was ignored. To start from the seed, delete the folder or name another one.`,
      io.stderr,
    )
  }
  log = (line) => print(line, io.stdout)
  for (const line of early) log(line)
  if (unregister === undefined) print(NOT_REGISTERED, io.stderr)
  await untilEnded(io)
  unregister?.()
  await sandbox.close()
  return EXIT.ok
}

const untilEnded = async (io: Io): Promise<void> => {
  let release = (): void => undefined
  await new Promise<void>((resolve) => {
    release = onStop(io, resolve)
    io.stdout.once('error', resolve)
  })
  release()
}

const NOT_REGISTERED =
  'Warning  The folder that lists running sandboxes, in the temporary folder, belongs to another user, so `sandbox connect` will not find this sandbox.'

/** Uses Postgres if it is available. Otherwise simulates computes, unless a flag requires Postgres. */
const startWithComputes = async (flags: ServeFlags, io: Io, options: SandboxOptions): Promise<Sandbox> => {
  const real: SandboxOptions = {
    ...options,
    computes: {
      kind: 'postgres',
      bin: flags.pgBin === undefined ? undefined : io.locate(flags.pgBin),
      port: flags.pgPort ?? DEFAULT_PG_PORT,
      anyPort: flags.pgPort === undefined,
    },
  }
  if (flags.computes === 'simulated') return startSandbox(options)
  if (flags.computes === 'postgres' || flags.pgBin !== undefined) return startSandbox(real)
  try {
    return await startSandbox(real)
  } catch (error) {
    // Data from another version of Postgres remains an error.
    if (!(error instanceof EspalierError) || error.code !== 'E_POSTGRES') throw error
    print(`Note  ${error.message} Computes are simulated. ${error.hint ?? ''}`, io.stderr)
    return startSandbox(options)
  }
}
