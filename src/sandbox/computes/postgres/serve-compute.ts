/** Starts the server of a compute: writes its configuration, and reacts to its log. */
import type { ComputeSpec } from '../computes.ts'
import type { Binaries } from './binaries.ts'
import type { Home } from './home.ts'
import { type PostgresServer, startServer } from './server.ts'
import { SUPERVISOR } from './session.ts'
import { availableLibraries, configurationOf, SOCKET_PORT } from './settings.ts'

export interface ServeOptions {
  readonly home: Home
  readonly binaries: Binaries
  readonly log: (line: string) => void
  /** Called when a standby can no longer follow its primary and needs a new copy. */
  readonly onLostTrack: () => void
}

/** Minimum values of settings that a standby's data requires. */
type AtLeast = Readonly<Record<string, string>>

const LOST_TRACK = /requested WAL segment \S+ has already been removed|is ahead of the WAL flush position/
/** Postgres' message if a standby's setting is lower than the primary's (PostgreSQL documentation, 26.4.3). */
const TOO_LOW = /(\w+) = \d+ is a lower setting than on the primary server, where its value was (\d+)/

/**
 * Starts a server on a data folder. If the data requires larger settings, tries again with those.
 *
 * @throws {Error} with Postgres' message, if the server does not start.
 */
export const serveCompute = async (
  spec: ComputeSpec,
  data: string,
  options: ServeOptions,
  atLeast: AtLeast = {},
): Promise<PostgresServer> => {
  const { home, binaries, log, onLostTrack } = options
  let tooLow: AtLeast = {}
  try {
    return await startServer({
      ...home,
      binaries,
      data,
      configuration: writeConfiguration(spec, options, atLeast),
      socketFolder: socketFolderOf(spec, home),
      onLine: (line) => {
        if (!line.includes(' LOG: ')) log(`postgres  ${spec.id}  ${line}`)
        const [, name, value] = TOO_LOW.exec(line) ?? []
        if (name !== undefined && value !== undefined) tooLow = { ...tooLow, [name]: value }
        if (LOST_TRACK.test(line)) onLostTrack()
      },
    })
  } catch (error) {
    const isKnown = Object.keys(tooLow).every((name) => name in atLeast)
    if (isKnown) throw error
    return serveCompute(spec, data, options, { ...atLeast, ...tooLow })
  }
}

/** Returns the path of the file. */
export const writeConfiguration = (
  spec: ComputeSpec,
  { home, binaries, log }: Pick<ServeOptions, 'home' | 'binaries' | 'log'>,
  atLeast: AtLeast = {},
): string => {
  const { there, missing } = availableLibraries(spec.libraries, binaries.postgres)
  for (const name of missing) log(`postgres  ${spec.id}  library ${name} is not installed and was left out`)
  const primary = [
    `host=${home.socketFolder(spec.branchId)}`,
    `port=${SOCKET_PORT} user=${SUPERVISOR} passfile=${home.passFile}`,
  ].join(' ')
  const text = configurationOf(
    { ...spec, libraries: there },
    {
      socketFolder: socketFolderOf(spec, home),
      atLeast,
      ...(spec.type === 'read_write' ? {} : { primary }),
    },
    home.hbaFile,
  )
  return home.storeConfiguration(spec.id, text)
}

/** A primary's folder depends on the branch only, so that replicas find whichever compute is the primary. */
const socketFolderOf = ({ type, branchId, id }: ComputeSpec, home: Home): string =>
  home.socketFolder(type === 'read_write' ? branchId : id)
