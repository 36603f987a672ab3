/** The agent's request allowance per account, and the refresh interval that fits it. Times are in milliseconds. */
const MINUTE = 60_000

/** Limit of the service, shared by all programs that use the account. */
export const ACCOUNT_LIMIT_PER_MINUTE = 700
/** On average, every sixth refresh also reads the branches and the settings. */
export const REQUESTS_PER_REFRESH = 8 / 6
/** Part of the allowance that refreshes may use. The rest is for applies, so that they need not queue behind refreshes. */
const REFRESH_PART = 0.8
const SHORTEST_INTERVAL = MINUTE
const HALVED_FOR = 5 * MINUTE
const JITTER = 0.2

export interface Share {
  /** Fraction of the account's limit, 0 to 1. */
  readonly share: number
  readonly limitedAt?: number | undefined
}

/** Requests per minute. Halved for five minutes after a 429. */
export const allowance = ({ share, limitedAt }: Share, now: number): number => {
  const isHalved = limitedAt !== undefined && now - limitedAt < HALVED_FOR
  return ACCOUNT_LIMIT_PER_MINUTE * share * (isHalved ? 0.5 : 1)
}

/** The requested interval, stretched until refreshing all projects fits the part of the allowance for refreshes. */
export const intervalThatFits = (wanted: number, projects: number, requestsPerMinute: number): number =>
  Math.max(wanted, SHORTEST_INTERVAL, ((projects * REQUESTS_PER_REFRESH) / (requestsPerMinute * REFRESH_PART)) * MINUTE)

/** @param random from 0 to 1. */
export const jittered = (interval: number, random: number): number => interval * (1 - JITTER + 2 * JITTER * random)

/** Spreads the first refreshes over one interval. */
export const startDelay = (index: number, projects: number, interval: number): number =>
  projects === 0 ? 0 : (index / projects) * interval
