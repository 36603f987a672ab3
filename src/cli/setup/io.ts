/** Everything that connects a command to the outside world. Only main.ts uses `process`. */
import type { Readable } from 'node:stream'
import type { Clock, OnSignal } from '../../base/index.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export type Output = NodeJS.WritableStream & {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

export interface Io {
  readonly stdout: Output
  readonly stderr: Output
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly env: Environment
  /** The absolute path of the current folder. */
  readonly cwd: string
  /** Resolves a path from the command line. main.ts leaves paths relative, which keeps error messages short. */
  readonly locate: (path: string) => string
  readonly clock: Required<Clock>
  readonly onSignal: OnSignal
}

/** Calls `stop` on SIGINT and SIGTERM. Returns a function that removes the handlers. */
export const onStop = ({ onSignal }: Io, stop: () => void): (() => void) => {
  const releases = [onSignal('SIGINT', stop), onSignal('SIGTERM', stop)]
  return () => {
    for (const release of releases) release()
  }
}

/** The current time in the format of events and plans, ISO 8601. */
export const timeOf = ({ clock }: Io): string => new Date(clock.date()).toISOString()
