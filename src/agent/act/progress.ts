/** Computes the new contents of a project's file after a refresh, before a step, and before and after an apply. */
import {
  type Desired,
  type Observed,
  type ObservedProject,
  type Outcome,
  type Plan,
  type PlanUse,
  planUseOf,
  type Step,
  type StepOutcome,
  stepTitle,
} from '../../model/index.ts'
import { differenceKey, factsOf, ruleKey } from '../../planner/index.ts'
import { computeOnBranch, effectLines } from '../../report/index.ts'
import type { ProjectFile } from '../data-folder.ts'
import { originOf, type ProjectRecord, refreshed } from '../decide/origin.ts'
import { type Refusal, type Sighting, subjectOf, waitAfter } from '../decide/retries.ts'
import { partsOf } from '../decide/round.ts'
import { begunChanges, type Gap, type Interrupted, movedBy, remainingGap, withChains } from './recovery.ts'

const DAY = 24 * 60 * 60_000
const WEEK = 7 * DAY

export interface Refresh {
  readonly desired: Desired
  readonly project: ObservedProject
  readonly program: string
  readonly digest: string
  readonly now: number
  readonly fetchedAt: number
}

export const afterRefresh = (
  file: ProjectFile,
  { desired, project, program, digest, now, fetchedAt }: Refresh,
): ProjectFile => {
  const facts = factsOf(desired, project)
  const moving = file.moving ?? []
  const refresh = {
    facts,
    program,
    manifests: digest,
    rules: desired.documents.flatMap((document) => document.rules.map(ruleKey)),
    newestBranch: project.branches.reduce(
      (newest, { createdAt = '' }) => (createdAt > newest ? createdAt : newest),
      '',
    ),
    created: new Set(moving),
  }
  const record = withOwnMoves(refreshed(file.record, refresh), file.record, moving)
  // A list may be too old to contain a compute that the agent created.
  const unlisted = moving.filter((id) => record.entries[`${id}/exists`]?.seen === null)
  const isChanging = project.computes.some(({ pendingState, state }) => (pendingState ?? state) !== state)
  const sightingOf = (key: string): Sighting => {
    const [before, after] = [file.record?.entries[key], record.entries[key]]
    const isSame = before?.want === after?.want && before?.seen === after?.seen
    const known = isSame ? file.sightings[key] : undefined
    return { firstSeenAt: known?.firstSeenAt ?? now, refreshedAt: now, fetchedAt, isChanging }
  }
  const differing = facts.filter(({ agrees }) => !agrees)
  return {
    ...file,
    moving: unlisted.length === 0 ? undefined : unlisted,
    record,
    sightings: Object.fromEntries(differing.map(({ key }) => [key, sightingOf(key)])),
    // A rejection is remembered as long as the same change, from the same live value, is wanted.
    refusals: file.refusals.filter(({ key, want, live }) => {
      const entry = record.entries[key]
      return entry !== undefined && entry.want === want && entry.seen === live
    }),
    reverts: file.reverts.filter(({ at }) => at > now - WEEK),
    attempts: file.attempts.filter(({ at }) => at > now - DAY),
  }
}

/** Forgets the chains once they leave no branch without its primary. */
export const withGap = ({ gap: known, ...file }: ProjectFile, gap: Gap | undefined, now: number): ProjectFile =>
  gap === undefined
    ? { ...file, chain: undefined }
    : { ...file, gap: { branches: [...gap.branches], steps: gap.steps, since: known?.since ?? now } }

/** The chains, as far as branches of theirs still have no primary. */
export const withRemainingGap = (file: ProjectFile, observed: Observed, now: number): ProjectFile => {
  const { chain, gap } = file
  return withGap(file, chain && remainingGap(chain.branches, gap?.steps ?? chain.changes.length, observed), now)
}

/** Keeps the origin of each change that the agent started but did not complete. */
const withOwnMoves = (
  record: ProjectRecord,
  before: ProjectRecord | undefined,
  moving: readonly string[],
): ProjectRecord => {
  if (moving.length === 0) return record
  const entries = Object.entries(record.entries).map(([key, entry]) => {
    const known = before?.entries[key]
    const isOurs = !entry.agreed && moving.some((id) => key.startsWith(`${id}/`))
    return isOurs && known !== undefined && known.base === known.seen
      ? ([key, { ...entry, base: entry.seen }] as const)
      : ([key, entry] as const)
  })
  return { ...record, entries: Object.fromEntries(entries) }
}

type Attempt = ProjectFile['attempts'][number]

/** Records a step before its first request, because a step that is not recorded must not run. */
export const beforeStep = (file: ProjectFile, step: Step, { changes, cost }: Plan, now: number): ProjectFile => {
  const isFirst = !file.attempts.some(({ open }) => open?.change === step.change)
  const change = isFirst ? changes.find(({ id }) => id === step.change) : undefined
  const used = change && planUseOf({ change, cost: cost?.computes.find((one) => one.change === change.id) })
  const interrupts = step.impact !== 'none'
  if (!interrupts && !Object.values(used ?? {}).some((amount) => amount !== 0)) return file
  const attempt: Attempt = {
    at: now,
    compute: subjectOf(step),
    interrupts,
    used: used ?? {},
    open: { step: step.id, change: step.change },
  }
  return { ...file, attempts: [...file.attempts, attempt] }
}

/** A step that the service rejected, or that was not sent, has interrupted nobody and used up nothing. */
const settled = ({ open, ...attempt }: Attempt, steps: readonly StepOutcome[]): Attempt => {
  const outcome = steps.find(({ step }) => step === open?.step)
  return outcome !== undefined && isRejected(outcome) ? { ...attempt, interrupts: false, used: {} } : attempt
}

const isRejected = ({ status, httpStatus = 500, operations }: StepOutcome): boolean =>
  status === 'failed' ? httpStatus < 500 && operations.length === 0 : status !== 'done'

/** Closes the attempts of an apply. Without an outcome, everything that was started counts. */
export const withSettled = (file: ProjectFile, steps: readonly StepOutcome[] = []): ProjectFile => ({
  ...file,
  attempts: file.attempts.map((attempt) => settled(attempt, steps)),
})

/** What was used up in the last 24 hours. */
export const usedIn = ({ attempts }: Pick<ProjectFile, 'attempts'>, now: number): PlanUse => {
  const total: Record<string, number> = {}
  for (const { at, used } of attempts) {
    if (at <= now - DAY) continue
    for (const [rule, amount] of Object.entries(used)) total[rule] = (total[rule] ?? 0) + amount
  }
  return total
}

/** What was applied, or `undefined` if no step completed. */
export const applied = (
  plan: Plan,
  done: ReadonlySet<string>,
  version: string,
  now: number,
): ProjectFile['applied'] => {
  const steps = plan.steps.filter(({ id }) => done.has(id))
  if (steps.length === 0) return undefined
  const changes = new Map(plan.changes.map((change) => [change.id, change]))
  return {
    at: new Date(now).toISOString(),
    version,
    done: steps.map((step) => stepTitle(step, changes)),
    interruptions: steps.filter(({ impact }) => impact !== 'none').length,
    effects: [...changes.values()]
      .filter(({ id }) => plan.steps.every((step) => step.change !== id || done.has(step.id)))
      .flatMap((change) => effectLines(change).map(({ text }) => `${computeOnBranch(change)}: ${text}`)),
  }
}

/**
 * Records what an interrupted apply has done, so that it is reported.
 *
 * @param rest the changes that remain, if known. A change that was started and is not among them is done.
 */
export const afterRecovery = (
  file: ProjectFile,
  { plan, started, done }: Interrupted,
  rest: Plan | undefined,
  now: number,
): ProjectFile => {
  const left = rest && new Set(rest.changes.map(({ id }) => id))
  const isDone = ({ id, change }: Step): boolean => done.has(id) || (started.has(id) && left?.has(change) === false)
  const ids = new Set(plan.steps.filter(isDone).map(({ id }) => id))
  const { applying } = file
  return withApplied({ ...file, applying: undefined }, applying && applied(plan, ids, applying.version, now))
}

/** Merges the applies of one round, or of a run that was resumed after a crash, into one entry. */
export const withApplied = (file: ProjectFile, more: ProjectFile['applied']): ProjectFile => {
  if (more === undefined) return file
  const { done, interruptions, effects } = file.applied ?? { done: [], interruptions: 0, effects: [] }
  return {
    ...file,
    applied: {
      ...more,
      done: [...done, ...more.done],
      interruptions: interruptions + more.interruptions,
      effects: [...effects, ...more.effects],
    },
  }
}

/** The HTTP statuses of a rejection. It is permanent if the value is invalid, and temporary if the branch is new. */
const REJECTED = new Set([400, 422])

/** @param version that of the manifests that were applied. */
export const afterApply = (
  file: ProjectFile,
  plan: Plan,
  { steps }: Outcome,
  version: string,
  now: number,
): ProjectFile => {
  const byId = new Map(plan.steps.map((step) => [step.id, step]))
  const failed = steps.filter(({ status }) => status === 'failed' || status === 'stale')
  const keysOf = (outcome: StepOutcome): readonly string[] => {
    const change = plan.changes.find(({ id }) => id === byId.get(outcome.step)?.change)
    return change === undefined ? [] : partsOf(change).map((attribute) => differenceKey(change, attribute))
  }
  const entryOf = (key: string) => file.record?.entries[key]
  const isDrift = (key: string): boolean => {
    const entry = entryOf(key)
    return entry !== undefined && !entry.agreed && originOf(entry) === 'drift'
  }
  const refusals = failed.flatMap((outcome): readonly Refusal[] => {
    const isRejected = outcome.reason === 'apply-failed' && REJECTED.has(outcome.httpStatus ?? 0)
    if (outcome.reason !== 'not-effective' && !isRejected) return []
    const why = isRejected ? 'rejected' : 'not-effective'
    return keysOf(outcome).flatMap((key) => {
      const { want = null, seen = null } = entryOf(key) ?? {}
      // Somebody may have changed the value once more, so a revert without effect counts as a revert.
      return why === 'not-effective' && isDrift(key) ? [] : [{ key, want, live: seen, why } as const]
    })
  })
  const done = steps.filter(({ status }) => status === 'done')
  const reverted = steps.filter(({ status, reason }) => status === 'done' || reason === 'not-effective')
  const reverts = [...new Set(reverted.flatMap(keysOf))]
    .filter(isDrift)
    .map((key) => ({ at: now, key, want: entryOf(key)?.want ?? null }))
  const operations = failed.flatMap(({ step, reason, computeId, message = '', operations: all }) => {
    const compute = computeId ?? byId.get(step)?.compute.id
    const isOurs = reason === 'operation-failed' || reason === 'operation-timeout'
    return isOurs && compute !== undefined ? [[compute, { operation: all.at(-1)?.id ?? '', message }] as const] : []
  })
  const [first] = failed
  const failures = first === undefined ? 0 : file.failures + 1
  const idsOf = (outcomes: readonly StepOutcome[]) => new Set(outcomes.map(({ step }) => step))
  const changes = withoutDone(file.chain?.changes ?? [], plan, idsOf(done)).concat(
    begunChanges({ plan, started: idsOf([...done, ...failed]), done: idsOf(done) }),
  )
  const isAllDone = done.length === steps.length
  const created = plan.changes.flatMap(({ id, kind }) => (kind === 'create' || kind === 'replace' ? [id] : []))
  return {
    ...withSettled(file, steps),
    applying: undefined,
    moving: [...(file.moving ?? []), ...(isAllDone ? created : movedBy({ plan, started: idsOf(steps) }))],
    chain: withChains(file.chain, changes, plan, version),
    refusals: [...file.refusals, ...refusals],
    reverts: [...file.reverts, ...reverts],
    failedOperations: { ...file.failedOperations, ...Object.fromEntries(operations) },
    failures,
    retryAt: first && now + waitAfter(failures),
    failure: first && (first.message ?? 'A step failed, but no reason was reported.'),
    wait: file.wait && { ...file.wait, failed: file.wait.failed || first !== undefined },
  }
}

const withoutDone = (changes: readonly string[], { steps }: Plan, done: ReadonlySet<string>): readonly string[] =>
  changes.filter(
    (id) =>
      !steps.some(({ change }) => change === id) || steps.some((step) => step.change === id && !done.has(step.id)),
  )
