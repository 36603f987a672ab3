/** The line that shows progress while many projects are read. */
import { group } from '../../base/index.ts'
import { elapsed } from '../words/counts.ts'
import { clip } from './style.ts'

export interface ReadingView {
  readonly what: string
  readonly done: number
  readonly total: number
  readonly elapsedMs: number
  /** The rate limit. Absent if requests are not limited. */
  readonly limit?: { readonly left: number; readonly aMinute: number }
  readonly width: number
}

/** `Reading projects 120/400  12 s  about 28 s left  rate limit 340/700 left`. */
export const readingLine = (view: ReadingView): string => {
  const { what, done, total, elapsedMs, limit, width } = view
  const leftMs = timeLeft(view)
  const facts = [
    `Reading ${what} ${group(done)}/${group(total)}`,
    elapsed(elapsedMs),
    ...(leftMs === undefined ? [] : [`about ${elapsed(Math.max(1_000, leftMs))} left`]),
    ...(limit === undefined ? [] : [`rate limit ${group(limit.left)}/${group(limit.aMinute)} left`]),
  ]
  return clip(facts.join('  '), width - 1)
}

/** The estimated time left, extrapolated from the progress so far, but no shorter than the rate limit allows. */
const timeLeft = ({ done, total, elapsedMs, limit }: ReadingView): number | undefined => {
  if (done === 0) return undefined
  const open = total - done
  const pace = (elapsedMs / done) * open
  if (limit === undefined) return pace
  const sent = limit.aMinute - limit.left
  const missing = (sent / done) * open - limit.left
  return Math.max(pace, (missing / limit.aMinute) * 60_000)
}
