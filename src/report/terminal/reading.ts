/** A progress line while many projects are read. */
import { elapsed, group } from '../words/index.ts'
import { clip } from './style.ts'

export interface ReadingView {
  readonly what: string
  readonly done: number
  readonly total: number
  readonly elapsedMs: number
  /** Requests that may still be sent within the minute; absent if nothing limits them. */
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

/** At the pace so far, and no faster than the limit lets requests through. */
const timeLeft = ({ done, total, elapsedMs, limit }: ReadingView): number | undefined => {
  if (done === 0) return undefined
  const open = total - done
  const pace = (elapsedMs / done) * open
  if (limit === undefined) return pace
  const sent = limit.aMinute - limit.left
  const missing = (sent / done) * open - limit.left
  return Math.max(pace, (missing / limit.aMinute) * 60_000)
}
