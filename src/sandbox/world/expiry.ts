/** The expiration of branches (docs of the service, "Branch expiration"). */
import type { BranchRecord } from './records.ts'
import { ApiError } from './requests.ts'
import type { ProjectTables } from './tables.ts'

const LONGEST_DAYS = 30
const DAY_MS = 86_400_000

type Expiry = Pick<BranchRecord, 'expiresAt' | 'ttlSeconds'>

/**
 * The expiration that a request sets. If `text` is null or absent, there is none. The time is rounded down to the
 * second, as on the service.
 *
 * @throws {ApiError} 400 if the time is not within the next 30 days.
 */
export const expiryAt = (text: string | null | undefined, now: number): Expiry => {
  if (text === null || text === undefined) return { expiresAt: undefined, ttlSeconds: undefined }
  const time = Math.floor(Date.parse(text) / 1_000) * 1_000
  if (!(time > now)) throw new ApiError(400, 'branch.expires_at: must be in the future')
  if (time > now + LONGEST_DAYS * DAY_MS) {
    throw new ApiError(400, `branch.expires_at: must be within the next ${LONGEST_DAYS} days`)
  }
  return expiry(time, Math.round((time - now) / 1_000))
}

/** A reset restarts the expiration period. */
export const renewExpiry = ({ ttlSeconds }: BranchRecord, now: number): Expiry =>
  ttlSeconds === undefined ? {} : expiry(now + ttlSeconds * 1_000, ttlSeconds)

const expiry = (time: number, ttlSeconds: number): Expiry => ({
  expiresAt: `${new Date(time).toISOString().slice(0, 19)}Z`,
  ttlSeconds,
})

/** @throws {ApiError} 422 if the branch expires although it is protected, is the default branch or has children. */
export const checkExpiry = (branch: BranchRecord, { branches }: Pick<ProjectTables, 'branches'>): void => {
  if (branch.expiresAt === undefined) return
  const reject = (what: string): never => {
    throw new ApiError(422, `${what} cannot expire: remove its expiration (expires_at: null) first`)
  }
  if (branch.isProtected) reject('a protected branch')
  if (branch.isDefault) reject('the default branch')
  if ([...branches.values()].some(({ parentId }) => parentId === branch.id)) reject('a branch that has children')
}
