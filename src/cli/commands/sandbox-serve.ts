import { defined, EspalierError, EXIT } from '../../base/index.ts'
import { readFaults, readSeed, type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/index.ts'
import { commandOf, type Description, type ValuesOf } from '../command.ts'
import { MIN_TIME_SCALE, number, text, toggle } from '../setup/flags.ts'
import { type Io, onStop } from '../setup/io.ts'
import { register } from '../setup/sandbox-registry.ts'
import { print } from '../terminal/terminal.ts'

const PORT = { max: 65_535 } as const
const TIME_SCALE = { min: MIN_TIME_SCALE, isFractional: true } as const

const DESCRIPTION = {
  flags: {
    port: number('', 'Port on 127.0.0.1; 0 picks a free port (default: 7788, or a free port if 7788 is taken)', PORT),
    state: text('', 'Directory for persistent state (default: none)', { value: 'DIR' }),
    seed: text('', 'File with the initial projects, branches and computes', { value: 'FILE' }),
    'time-scale': number('', 'How many times as fast as real time the sandbox runs', TIME_SCALE),
    key: text('', 'API key that the sandbox accepts (default: the key in --state, or a new one)', { value: 'KEY' }),
    faults: text('', 'File that lists the faults to inject', { value: 'FILE' }),
    'rate-limits': toggle(
      '',
      'Enforce the published rate limits with status 429: bursts of 700 requests, then 700 per minute; 40 per second per route',
    ),
    computes: text(
      'Computes:',
      'Compute backend; auto uses postgres if it can run here or --pg-bin is set, and simulated otherwise',
      {
        choices: ['auto', 'postgres', 'simulated'],
        default: 'auto',
      },
    ),
    'pg-bin': text(
      'Computes:',
      'Folder that contains postgres and initdb (default: all installed versions, and that of the npm package)',
      { value: 'DIR' },
    ),
    'pg-port': number(
      'Computes:',
      'Port that all computes share; 0 picks a free port (default: 7799, or a free port if 7799 is taken)',
      PORT,
    ),
  },
  examples: [
    ['$0 sandbox serve --seed seed.yaml', 'Start with sample projects'],
    ['$0 sandbox serve --port 0 --state .espalier/sandbox', 'Use a free port and persistent state'],
  ],
  notes: `The first lines on stdout show the API URL and key, the URL and token of the sandbox's own API, and
the compute backend:
  API  http://127.0.0.1:PORT/api/v2
  Key  KEY
  Control  http://127.0.0.1:PORT/_sandbox  TOKEN
  Computes  Postgres 17.10, all on port 7799
The log follows.

Exit codes:
  0   stopped by SIGINT, SIGTERM or the end of its output
  1   wrong usage, an invalid seed or fault file, an unusable state folder, a
      port in use, or no Postgres with --computes postgres or --pg-bin`,
} as const satisfies Description

type ServeFlags = ValuesOf<typeof DESCRIPTION>

/** The default ports. If one of them is taken, a free port is used instead. */
const DEFAULT_PORT = 7788
const DEFAULT_PG_PORT = 7799

/** Runs the sandbox until it receives a signal or its output is closed. */
export const serveCommand = commandOf(DESCRIPTION, async (flags, io) => {
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
  for (const warning of sandbox.warnings) print(`warning  ${warning}`, io.stderr)
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
})

const untilEnded = async (io: Io): Promise<void> => {
  let release = (): void => undefined
  await new Promise<void>((resolve) => {
    release = onStop(io, resolve)
    io.stdout.once('error', resolve)
  })
  release()
}

const NOT_REGISTERED =
  'warning  The folder that lists running sandboxes, in the temporary folder, cannot be written or is not yours, so `sandbox connect` will not find this sandbox.'

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
