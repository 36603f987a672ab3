/** Connects a command to the control API, as its flags and environment variables specify. */

import type { OnReading, ReadApi, WriteApi } from '../api/index.ts'
import { VERSION } from '../model/version.ts'
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
import { type ApiFlags, usageError } from './flags.ts'
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
  if (connection.isSeedUnused) print(seedIgnored(folderOf(flags)), io.stderr)
  return connection
}

const folderOf = ({ sandbox }: ApiFlags): string => sandbox || SANDBOX_DIR

const targetOf = async (flags: ApiFlags, io: Io): Promise<Target> => {
  const { sandbox, seed, timeScale, baseUrl } = flags
  if (sandbox === undefined) {
    if (seed !== undefined || timeScale !== undefined) {
      throw usageError('--seed and --time-scale need --sandbox.', 'Add --sandbox to run a sandbox inside this command.')
    }
    return {
      apiKey: await findKey(flags.apiKeyFile, io),
      baseUrl: baseUrl ?? io.env.ESPALIER_BASE_URL?.trim(),
    }
  }
  if (baseUrl !== undefined) throw usageError('--sandbox and --base-url cannot be combined.')
  return {
    sandbox: {
      stateDir: io.locate(folderOf(flags)),
      seed: seed === undefined ? undefined : io.locate(seed),
      timeScale,
    },
  }
}

/** Without this note, users would think that the seed was used. */
export const seedIgnored = (folder: string): string =>
  `Note  The sandbox in ${folder} already exists, so --seed was ignored. To start from the seed, delete the folder or name another one.`
