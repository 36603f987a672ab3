/** Says on stderr that the control API does not answer, while requests are sent again and nothing else is printed. */
import type { RequestWatch } from '../api/index.ts'
import type { Clock } from '../model/index.ts'
import { plainText } from '../report/index.ts'

/** A shorter trouble is over before anybody would wonder. */
const TROUBLE_MS = 2_000
const SILENCE_MS = 4_000
const PAUSE_MS = 10_000

export const apiWatch = (
  print: (line: string) => void,
  clock: Pick<Clock, 'now'>,
  onLimit: RequestWatch['onLimit'] = () => undefined,
): RequestWatch => {
  let saidAt = Number.NEGATIVE_INFINITY
  /** Since the last good answer: what went wrong last, and the timer that says so. */
  let problem = ''
  let trouble: NodeJS.Timeout | undefined
  const say = (line: string): void => {
    if (clock.now() - saidAt < PAUSE_MS) return
    saidAt = clock.now()
    print(plainText(line))
  }
  const calm = (): void => {
    clearTimeout(trouble)
    trouble = undefined
  }
  return {
    onLimit,
    begin: (request) => {
      const silence = setTimeout(() => say(`Waiting for the control API to answer ${request}.`), SILENCE_MS).unref()
      return (wrong) => {
        clearTimeout(silence)
        if (wrong === undefined) return calm()
        problem = wrong
        trouble ??= setTimeout(() => {
          say(`Retrying ${request}: ${problem}`)
          calm()
        }, TROUBLE_MS).unref()
      }
    },
  }
}
