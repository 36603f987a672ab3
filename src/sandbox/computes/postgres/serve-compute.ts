/** Starts the server of a compute and reacts to lines in its log. */
import type { ComputeSpec } from '../computes.ts'
import type { Binaries } from './binaries.ts'
import type { Home } from './home.ts'
import { type PostgresServer, startServer } from './server.ts'
import { socketFolderOf, writeConfiguration } from './settings.ts'

export interface ServeOptions {
  readonly home: Home
  readonly binaries: Binaries
  readonly log: (line: string) => void
  /** Called when a standby can no longer replicate from its primary and needs a new copy of the data. */
  readonly onLostTrack: () => void
}

/** The minimum values that the data of a standby requires for some settings. */
type AtLeast = Readonly<Record<string, string>>

const LOST_TRACK = /requested WAL segment \S+ has already been removed|is ahead of the WAL flush position/
/** Postgres' message if a standby's setting is lower than the primary's (PostgreSQL documentation, 26.4.3). */
const TOO_LOW = /(\w+) = \d+ is a lower setting than on the primary server, where its value was (\d+)/

/**
 * Starts a server on a data folder. If the data requires larger values for some settings, tries again with these
 * values.
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
