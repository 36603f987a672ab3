/** Finds out the colour support, width and other properties of the output streams. */
import type { Style } from '../../report/index.ts'
import type { Invocation } from '../command.ts'
import type { Environment, Io, Output } from '../setup/io.ts'
import { completeCommands } from '../setup/suggested-commands.ts'

export interface StyleFlags {
  readonly noColor?: boolean | undefined
  /** Completes the commands that are shown. */
  readonly invocation?: Invocation
}

type Stream = Pick<Output, 'isTTY' | 'columns'>

const PIPED_WIDTH = 100
const NARROWEST = 40

/**
 * Colour is decided by the first of these that applies: `--no-color`, a NO_COLOR that is not empty, FORCE_COLOR, and
 * the type of the stream. The width is in columns.
 */
export const styleOf = (stream: Stream, flags: StyleFlags, env: Environment): Style => ({
  color: hasColor(stream, flags.noColor === true, env),
  width: Math.max(NARROWEST, stream.isTTY === true ? (stream.columns ?? PIPED_WIDTH) : PIPED_WIDTH),
  complete: (text) => completeCommands(text, flags.invocation),
})

/** The style of tables. In a pipe, a table shows all columns in full, because a program may read it. */
export const tableStyle = (stream: Stream, flags: StyleFlags, env: Environment): Style => ({
  ...styleOf(stream, flags, env),
  ...(stream.isTTY === true ? {} : { width: Number.POSITIVE_INFINITY }),
})

const hasColor = (stream: Stream, noColor: boolean, env: Environment): boolean => {
  if (noColor || (env.NO_COLOR ?? '') !== '') return false
  const forced = env.FORCE_COLOR
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  return stream.isTTY === true && env.TERM !== 'dumb'
}

/** Whether a user can answer a prompt. In CI, a prompt would wait forever. */
export const canAsk = ({ stdin, stderr, env }: Io): boolean =>
  stdin.isTTY === true && stderr.isTTY === true && !isCi(env)

export const isCi = (env: Environment): boolean => (env.CI ?? '') !== '' && env.CI !== 'false' && env.CI !== '0'

/** Whether lines that were printed can be redrawn, which is not possible in a log. */
export const canRedraw = (stream: Stream, env: Environment): boolean =>
  stream.isTTY === true && env.TERM !== 'dumb' && !isCi(env)

/** Writes `text`, and a newline if `text` does not end with one. */
export const print = (text: string, stream: Pick<Output, 'write'>): void => {
  if (text !== '') stream.write(text.endsWith('\n') ? text : `${text}\n`)
}
