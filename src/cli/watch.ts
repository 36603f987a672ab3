/** Reading again and again, until Ctrl-C. */
import { EspalierError } from '../model/index.ts'
import { plainText } from '../report/index.ts'
import type { Io } from './io.ts'
import { canRedraw, print } from './terminal.ts'

/** The screen of full-screen programs: what was on the terminal before, its scrollback too, comes back afterwards. */
const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const CLEAR_LINE = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'

/** @param read is not interrupted: a signal ends the loop after it. */
export const untilInterrupted = async (
  everyMs: number,
  read: () => Promise<void>,
  { clock, onSignal }: Io,
): Promise<void> => {
  const interrupted = new AbortController()
  const stop = (): void => interrupted.abort()
  const releases = [onSignal('SIGINT', stop), onSignal('SIGTERM', stop)]
  try {
    while (!interrupted.signal.aborted) {
      await read()
      await clock.sleep(everyMs, interrupted.signal).catch(() => undefined)
    }
  } finally {
    for (const release of releases) release()
  }
}

export interface Watch<T> {
  readonly title: string
  readonly everyMs: number
  /** @throws {EspalierError} which ends the watch the first time, and is shown later. */
  readonly read: () => Promise<T>
  /** As many lines as there are; those that the terminal has no rows for are left out. */
  readonly draw: (value: T) => string
}

/** Shows each refresh on the alternate screen; in a pipe each is printed below the one before. */
export const watchScreen = async <T>({ title, everyMs, read, draw }: Watch<T>, io: Io): Promise<void> => {
  if (!canRedraw(io.stdout, io.env))
    return untilInterrupted(everyMs, async () => print(draw(await read()), io.stdout), io)
  const { stdout, clock } = io
  let last: { readonly value: T; readonly readAt: number } | undefined
  let failure = ''
  const show = (): void => {
    if (last === undefined) return
    const seen = new Date(clock.date() - (clock.now() - last.readAt)).toISOString().slice(11, 19)
    const note = failure === '' ? `Read at ${seen} UTC.` : `Read at ${seen} UTC. ${failure}`
    const head = `${title}  ${note} Ctrl-C ends.`
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
      failure = `Reading again failed: ${plainText(error.message)}`
    }
    show()
  }
  stdout.on('resize', show)
  try {
    await untilInterrupted(everyMs, refresh, io)
  } finally {
    stdout.off('resize', show)
    if (last !== undefined) stdout.write(LEAVE)
  }
}

/** Written over the frame before it, so that nothing flickers. */
const frameOf = (lines: readonly string[], rows: number): string => {
  const shown = lines.length <= rows ? lines : lines.slice(0, Math.max(1, rows - 1))
  const hidden = lines.length - shown.length
  const all = hidden === 0 ? shown : [...shown, `  and ${hidden} more lines: the terminal is too small`]
  return `${HOME}${all.map((line) => `${line}${CLEAR_LINE}`).join('\n')}${CLEAR_BELOW}`
}
