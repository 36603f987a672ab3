/** Repeats a read until the user presses Ctrl-C. */
import { EspalierError, plainText } from '../../base/index.ts'
import { time } from '../../report/index.ts'
import { type Io, onStop } from '../setup/io.ts'
import { canRedraw, print } from './terminal.ts'

/** Enters the alternate screen. Leaving it restores what the terminal showed before. */
const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const CLEAR_LINE = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'

/** How long a watch waits between two reads. */
const WATCH_MS = 5_000

/** @param read is never interrupted. After a signal, the loop ends as soon as `read` has returned. */
export const untilInterrupted = async (read: () => Promise<void>, io: Io): Promise<void> => {
  const interrupted = new AbortController()
  const release = onStop(io, () => interrupted.abort())
  try {
    while (!interrupted.signal.aborted) {
      await read()
      await io.clock.sleep(WATCH_MS, interrupted.signal).catch(() => undefined)
    }
  } finally {
    release()
  }
}

export interface Watch<T> {
  /** `status`. */
  readonly command: string
  /** @throws {EspalierError} an error, which ends the watch after the first read. Later, it is shown on the screen. */
  readonly read: () => Promise<T>
  /** Returns all lines. The lines that do not fit on the terminal are not shown. */
  readonly draw: (value: T) => string
}

/** Shows each refresh on the alternate screen. In a pipe, prints each refresh below the previous one. */
export const watchScreen = async <T>({ command, read, draw }: Watch<T>, io: Io): Promise<void> => {
  if (!canRedraw(io.stdout, io.env)) return untilInterrupted(async () => print(draw(await read()), io.stdout), io)
  const { stdout, clock } = io
  let last: { readonly value: T; readonly readAt: number } | undefined
  let failure = ''
  const show = (): void => {
    if (last === undefined) return
    const seen = new Date(clock.date() - (clock.now() - last.readAt)).toISOString().slice(11, 19)
    const note = failure === '' ? `Read at ${seen} UTC.` : `Read at ${seen} UTC. ${failure}`
    const head = `espalier ${command}, every ${time(WATCH_MS)}.  ${note} Ctrl-C ends.`
    stdout.write(frameOf([head, '', ...draw(last.value).trimEnd().split('\n')], stdout.rows ?? 24))
  }
  const refresh = async (): Promise<void> => {
    try {
      const value = await read()
      if (last === undefined) stdout.write(ENTER)
      last = { value, readAt: clock.now() }
      failure = ''
    } catch (error) {
      if (last === undefined || !(error instanceof EspalierError)) throw error
      failure = `The refresh failed: ${plainText(error.message)}`
    }
    show()
  }
  stdout.on('resize', show)
  try {
    await untilInterrupted(refresh, io)
  } finally {
    stdout.off('resize', show)
    if (last !== undefined) stdout.write(LEAVE)
  }
}

/** Text that overwrites the previous frame instead of erasing it first, which avoids flickering. */
const frameOf = (lines: readonly string[], rows: number): string => {
  const shown = lines.length <= rows ? lines : lines.slice(0, Math.max(1, rows - 1))
  const hidden = lines.length - shown.length
  const all = hidden === 0 ? shown : [...shown, `  and ${hidden} more lines: the terminal is too small`]
  return `${HOME}${all.map((line) => `${line}${CLEAR_LINE}`).join('\n')}${CLEAR_BELOW}`
}
