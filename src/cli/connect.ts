/** Which control API a command speaks to: the real one, or a sandbox for the life of the command. */
import type { ApiOptions } from '../api/index.ts'
import { VERSION } from '../model/version.ts'
import { apiWatch } from './api-watch.ts'
import { checkNumber, usageError } from './flags.ts'
import type { Io } from './io.ts'
import { findKey } from './key.ts'
import { print } from './terminal.ts'

export interface ApiFlags {
  readonly baseUrl?: string | undefined
  readonly apiKeyFile?: string | undefined
  readonly concurrency: number
  readonly sandbox?: string | undefined
  readonly seed?: string | undefined
  readonly timeScale?: number | undefined
  readonly debug?: boolean | undefined
  /** How many runs share the account's request limit. Default 1. */
  readonly runs?: number | undefined
}

export interface Connection {
  readonly options: ApiOptions
  /** Ends the sandbox, where there is one. */
  close(): Promise<void>
}

const SANDBOX_DIR = '.espalier/sandbox'

export const connect = async (flags: ApiFlags, io: Io): Promise<Connection> => {
  checkNumber('concurrency', flags.concurrency, 1)
  const common = {
    userAgent: `espalier/${VERSION}`,
    clock: io.clock,
    ...(flags.runs === undefined ? {} : { clients: flags.runs }),
    ...(flags.debug === true ? { debug: (line: string) => print(line, io.stderr) } : {}),
  }
  if (flags.sandbox !== undefined) return embedded({ ...flags, sandbox: flags.sandbox }, common, io)
  if (flags.seed !== undefined || flags.timeScale !== undefined) {
    throw usageError('--seed and --time-scale belong to a sandbox.', 'Add --sandbox to run one inside this command.')
  }
  const baseUrl = flags.baseUrl ?? io.env.ESPALIER_BASE_URL?.trim()
  return {
    options: {
      ...common,
      watch: apiWatch((line) => print(line, io.stderr), io.clock),
      ...(baseUrl === undefined || baseUrl === '' ? {} : { baseUrl }),
      apiKey: await findKey(flags.apiKeyFile, io),
    },
    close: async () => undefined,
  }
}

const embedded = async (
  flags: ApiFlags & { readonly sandbox: string },
  common: Pick<ApiOptions, 'userAgent' | 'debug' | 'clients' | 'clock'>,
  io: Io,
): Promise<Connection> => {
  if (flags.baseUrl !== undefined) throw usageError('--sandbox and --base-url cannot be given together.')
  checkNumber('time-scale', flags.timeScale, 0.001, false)
  const { readSeed, startSandbox } = await import('../sandbox/index.ts')
  const stateDir = flags.sandbox === '' ? SANDBOX_DIR : flags.sandbox
  const sandbox = await startSandbox({
    stateDir: io.locate(stateDir),
    ...(flags.seed === undefined ? {} : { seed: await readSeed(io.locate(flags.seed)) }),
    ...(flags.timeScale === undefined ? {} : { timeScale: flags.timeScale }),
  })
  for (const warning of sandbox.warnings) print(`Warning  ${warning}`, io.stderr)
  if (sandbox.seedLeftOut) print(seedLeftOut(stateDir), io.stderr)
  return {
    options: { ...common, baseUrl: sandbox.apiUrl, apiKey: sandbox.apiKey },
    close: () => sandbox.close(),
  }
}

/** A seed that does nothing must not pass for one that did. */
export const seedLeftOut = (folder: string): string =>
  `Note  The sandbox in ${folder} has a state of its own, so --seed was left out. Delete the folder, or name another one, to start from the seed.`
