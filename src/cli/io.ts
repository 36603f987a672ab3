/** All that a command touches of the world around it. The process itself is known to main.ts only. */
import type { Readable } from 'node:stream'
import type { OnSignal } from '../base/index.ts'
import type { Clock } from '../model/index.ts'

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
  /** The current folder, absolute. */
  readonly cwd: string
  /** Where a path of the command line is. Left as it is where the process is in that folder, since errors show it. */
  readonly locate: (path: string) => string
  readonly clock: Required<Clock>
  readonly onSignal: OnSignal
}

/** The time of day, as events and plans write it. */
export const timeOf = ({ clock }: Io): string => new Date(clock.date()).toISOString()
