/**
 * Computes how many requests the agent may send for each account, and the refresh interval that this permits. Times are
 * in milliseconds.
 */
const MINUTE = 60_000

/** The service's rate limit, which all programs that use the account share. */
export const ACCOUNT_LIMIT_PER_MINUTE = 700
/** On average, every sixth refresh also reads the branches and the settings. */
export const REQUESTS_PER_REFRESH = 8 / 6
/** The part of these requests that refreshes may use. The others are for applies, so that they do not have to wait. */
const REFRESH_PART = 0.8
const SHORTEST_INTERVAL = MINUTE
const HALVED_FOR = 5 * MINUTE
const JITTER = 0.2

export interface Share {
  /** The fraction of the account's rate limit that the agent may use, from 0 to 1. */
  readonly share: number
  readonly limitedAt?: number | undefined
}

/** How many requests per minute the agent may send. Halved for five minutes after a response with status 429. */
export const allowance = ({ share, limitedAt }: Share, now: number): number => {
  const isHalved = limitedAt !== undefined && now - limitedAt < HALVED_FOR
  return ACCOUNT_LIMIT_PER_MINUTE * share * (isHalved ? 0.5 : 1)
}

/** The interval that was asked for, lengthened if refreshing all projects would otherwise take too many requests. */
export const intervalThatFits = (wanted: number, projects: number, requestsPerMinute: number): number =>
  Math.max(wanted, SHORTEST_INTERVAL, ((projects * REQUESTS_PER_REFRESH) / (requestsPerMinute * REFRESH_PART)) * MINUTE)

/** Varies the interval at random. @param random a number from 0 to 1. */
export const jittered = (interval: number, random: number): number => interval * (1 - JITTER + 2 * JITTER * random)

/** The delay before a project's first refresh, which spreads the first refreshes of all projects over one interval. */
export const startDelay = (index: number, projects: number, interval: number): number =>
  projects === 0 ? 0 : (index / projects) * interval
