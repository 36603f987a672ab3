/** Connects a command to the control API, as its flags and environment variables specify. */
import { createHash } from 'node:crypto'
import { join, parse, resolve } from 'node:path'
import type { OnReading, ReadApi, WriteApi } from '../api/index.ts'
import { VERSION } from '../base/version.ts'
import {
  type Connection,
  connect as connectTo,
  type OpenClient,
  openReadClient,
  openWriteClient,
  type Target,
  withClient,
} from '../workflow/index.ts'
import { apiWatch } from './api-watch.ts'
import { type ApiFlags, MIN_TIME_SCALE, usageError } from './flags.ts'
import type { Io } from './io.ts'
import { findKey } from './key.ts'
import { type ReadingLine, readingLine } from './reading-line.ts'
import { print } from './terminal.ts'

const SANDBOX_DIR = '.espalier/sandbox'

/** Runs `use`, then closes the connection. Long reads show their progress. */
export const withReadApi = async <T>(
  flags: ApiFlags,
  io: Io,
  use: (api: ReadApi, onReading: OnReading) => Promise<T>,
): Promise<T> => {
  const reading = readingLine(io)
  try {
    return await withClient(connect(flags, io, reading).then(openReadClient), (api) => use(api, reading.onReading))
  } finally {
    reading.end()
  }
}

/** @param lockTimeoutMs how long to wait while a project is locked. */
export const openWriteApi = async (
  flags: ApiFlags,
  lockTimeoutMs: number,
  io: Io,
  reading?: ReadingLine,
): Promise<OpenClient<WriteApi>> => openWriteClient(await connect(flags, io, reading), lockTimeoutMs)

export const connect = async (flags: ApiFlags, io: Io, reading?: ReadingLine): Promise<Connection> => {
  const connection = await connectTo(await targetOf(flags, io), {
    userAgent: `espalier/${VERSION}`,
    clock: io.clock,
    watch: apiWatch((line) => print(line, io.stderr), io.clock, reading?.onLimit),
    ...(flags.debug === true ? { debug: (line: string) => print(line, io.stderr) } : {}),
  })
  for (const warning of connection.warnings) print(`Warning  ${warning}`, io.stderr)
  if (connection.hasStartedOver)
    print(`Note  ${flags.sandbox} has changed, so the sandbox starts over from it.`, io.stderr)
  return connection
}

const targetOf = async (flags: ApiFlags, io: Io): Promise<Target> => {
  const { sandbox, baseUrl } = flags
  if (sandbox === undefined) {
    return {
      apiKey: await findKey(flags.apiKeyFile, io),
      baseUrl: baseUrl ?? io.env.ESPALIER_BASE_URL?.trim(),
    }
  }
  if (baseUrl !== undefined) throw usageError('--sandbox and --base-url cannot be combined.')
  return { sandbox: { ...sandboxAt(sandbox, io), timeScale: timeScaleIn(io.env) } }
}

/** @param given the value of `--sandbox`: a seed file, a folder for the state, or nothing. */
const sandboxAt = (given: string, io: Io): { readonly stateDir: string; readonly seed?: string } => {
  if (!/\.ya?ml$/i.test(given)) return { stateDir: io.locate(given || SANDBOX_DIR) }
  // Commands with the same seed share the state, and two seeds with the same name do not.
  const digest = createHash('sha256').update(resolve(io.cwd, given)).digest('hex').slice(0, 8)
  const stateDir = join(SANDBOX_DIR, `${parse(given).name}-${digest}`)
  return { stateDir: io.locate(stateDir), seed: io.locate(given) }
}

/** @throws {EspalierError} `E_USAGE` */
const timeScaleIn = ({ ESPALIER_SANDBOX_TIME_SCALE: given = '' }: Io['env']): number | undefined => {
  if (given === '') return undefined
  const scale = Number(given)
  if (Number.isFinite(scale) && scale >= MIN_TIME_SCALE) return scale
  throw usageError(`ESPALIER_SANDBOX_TIME_SCALE must be a number of at least ${MIN_TIME_SCALE}, not ${given}.`)
}
