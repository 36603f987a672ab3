/** Reports on stderr that the control API does not respond, or that requests to it are retried. */
import type { RequestWatch } from '../api/index.ts'
import { type Clock, plainText } from '../base/index.ts'

/** Failures that last less than this are not reported. */
const FAILURE_MS = 2_000
const SILENCE_MS = 4_000
const PAUSE_MS = 10_000

export const apiWatch = (
  print: (line: string) => void,
  clock: Pick<Clock, 'now'>,
  onLimit: RequestWatch['onLimit'] = () => undefined,
): RequestWatch => {
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
