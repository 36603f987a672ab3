/** Connects a command to the control API, as its flags and environment variables specify. */
import { createHash } from 'node:crypto'
import { join, parse, resolve } from 'node:path'
import type { OnReading, ReadApi, RequestWatch, WriteApi } from '../../api/index.ts'
import { type Clock, plainText } from '../../base/index.ts'
import { VERSION } from '../../base/version.ts'
import {
  type Connection,
  connect as connectTo,
  type OpenClient,
  openReadClient,
  openWriteClient,
  type Target,
  withClient,
} from '../../workflow/index.ts'
import { type ReadingLine, readingLine } from '../terminal/bottom-lines.ts'
import { print } from '../terminal/terminal.ts'
import { type ApiFlags, MIN_TIME_SCALE, usageError } from './flags.ts'
import type { Io } from './io.ts'
import { findKey } from './key.ts'

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
  const watch = apiWatch((line) => print(line, io.stderr), io.clock, reading?.onLimit)
  const connection = await connectTo(await targetOf(flags, io), {
    userAgent: `espalier/${VERSION}`,
    clock: io.clock,
    watch,
    ...(flags.debug === true ? { debug: (line: string) => print(line, io.stderr) } : {}),
  })
  for (const warning of connection.warnings) print(`warning  ${warning}`, io.stderr)
  if (connection.hasStartedOver)
    print(`Note  ${flags.sandbox} has changed, so the sandbox starts over from it.`, io.stderr)
  const close = (): Promise<void> => {
    watch.end()
    return connection.close()
  }
  return { ...connection, close }
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

// Reports on stderr that the control API does not respond, or that requests to it are retried.

/** Failures that last less than this are not reported. */
const FAILURE_MS = 2_000
const SILENCE_MS = 4_000
const PAUSE_MS = 10_000

export const apiWatch = (
  print: (line: string) => void,
  clock: Pick<Clock, 'now'>,
  onLimit: RequestWatch['onLimit'] = () => undefined,
): RequestWatch & { end(): void } => {
  let reportedAt = Number.NEGATIVE_INFINITY
  /** The latest failure since the last successful response. The timer below reports it. */
  let problem = ''
  let reporting: NodeJS.Timeout | undefined
  const say = (line: string): void => {
    if (clock.now() - reportedAt < PAUSE_MS) return
    reportedAt = clock.now()
    print(plainText(line))
  }
  const recover = (): void => {
    clearTimeout(reporting)
    reporting = undefined
  }
  return {
    onLimit,
    end: recover,
    begin: (request) => {
      const silence = setTimeout(() => say(`Waiting for the control API to answer ${request}.`), SILENCE_MS).unref()
      return (wrong) => {
        clearTimeout(silence)
        if (wrong === undefined) return recover()
        problem = wrong
        reporting ??= setTimeout(() => {
          say(`Retrying ${request}: ${problem}`)
          recover()
        }, FAILURE_MS).unref()
      }
    },
  }
}
