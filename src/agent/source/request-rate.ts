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
const OWN_RATE = ACCOUNT_LIMIT_PER_MINUTE / 2
const LEAST_RATE = 10
/** From half of the rate, it takes ten minutes to grow back. */
const GROWTH_PER_MINUTE = OWN_RATE / 20
const JITTER = 0.2

/** The agent's rate right after the last 429 response. */
export interface Limited {
  readonly at: number
  readonly perMinute: number
}

/** How many requests per minute the agent may send: half of the account's rate, or less for a while after a 429. */
export const allowance = (limited: Limited | undefined, now: number): number =>
  limited === undefined
    ? OWN_RATE
    : Math.min(OWN_RATE, limited.perMinute + ((now - limited.at) / MINUTE) * GROWTH_PER_MINUTE)

/** Halves the rate. Responses that arrive together are one signal. */
export const afterTooMany = (limited: Limited | undefined, now: number): Limited =>
  limited !== undefined && now - limited.at < MINUTE
    ? limited
    : { at: now, perMinute: Math.max(LEAST_RATE, allowance(limited, now) / 2) }

/** The interval that was asked for, lengthened if refreshing all projects would otherwise take too many requests. */
export const intervalThatFits = (wanted: number, projects: number, requestsPerMinute: number): number =>
  Math.max(wanted, SHORTEST_INTERVAL, ((projects * REQUESTS_PER_REFRESH) / (requestsPerMinute * REFRESH_PART)) * MINUTE)

/** Varies the interval at random. @param random a number from 0 to 1. */
export const jittered = (interval: number, random: number): number => interval * (1 - JITTER + 2 * JITTER * random)

/** The delay before a project's first refresh, which spreads the first refreshes of all projects over one interval. */
export const startDelay = (index: number, projects: number, interval: number): number =>
  projects === 0 ? 0 : (index / projects) * interval
