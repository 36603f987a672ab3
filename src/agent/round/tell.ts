/** Shows and notifies of the result of a round, and determines when the next one is due. */
import { type ApiError, type WriteApi, withSettlements } from '../../api/index.ts'
import { type AgentStatus, type Observed, type ObservedProject, type Released, unsettledIn } from '../../model/index.ts'
import { releasedSince } from '../../planner/index.ts'
import { releasedCounts } from '../../report/index.ts'
import { type Manifests, releasedPolicies } from '../../workflow/index.ts'
import { unresolvedFailures } from '../act/recovery.ts'
import type { Held } from '../act/restart-limit.ts'
import { afterFailedRead, waitAfter } from '../decide/retries.ts'
import { heldRound, worstOf } from '../decide/round.ts'
import { stopOf } from '../decide/table.ts'
import { jittered, wakesAfterRound } from '../decide/wakes.ts'
import type { Decided, ProjectMemory } from '../memory.ts'
import type { Declaration } from '../source/desired-state.ts'
import { hasNews, isNotified } from '../tell/notifier.ts'
import { concluded, type Shown, shownAs } from '../tell/view.ts'

export const conclude = async (
  memory: ProjectMemory,
  { declaration, manifests, ...decided }: Decided,
  api: WriteApi,
  held?: Held,
): Promise<void> => {
  const { restarts } = memory.host
  if (held === undefined) restarts.forget(memory.id)
  const round = held === undefined ? decided.round : heldRound(decided.round)
  const observed = await withSettlements(api, decided.observed, memory.readOperations)
  const { now, random, wake, intervalOf } = memory.host
  const { failedOperations: failed } = memory.file
  const [project] = observed.projects
  if (project !== undefined && Object.keys(failed).length > 0) {
    const failedOperations = await unresolvedFailures(api, project, failed, now())
    memory.change((file) => ({ ...file, failedOperations }))
  }
  const isDue = memory.file.chain !== undefined || [...round.steps.values()].some(({ action }) => action === 'run')
  if (!isDue)
    memory.change((file) => ({ ...file, retryAt: undefined, failure: undefined, failures: 0, overLimit: undefined }))
  memory.isUnsettled = unsettledIn(observed.projects, round.whole).length > 0
  memory.shownRecord = memory.file.record
  const released = await releasedBy(memory, declaration, manifests, observed)
  const { data } = memory.host
  const failure =
    isDue && data.isFull()
      ? `The disk of ${data.path} is full, so nothing is applied. Free at least 3 MiB; the agent then continues.`
      : memory.file.failure
  const { status, shown } = concluded(round, { ...memory.file, failure }, observed)
  tellRead(memory)
  const limited = status.reason === 'RestartLimit' && held !== undefined ? limitedBy(held, restarts.waiting) : {}
  await show(memory, status, declaration.version, { ...shown, ...limited, released })
  // This is set last, because until now the displayed state was that of the previous declaration.
  memory.concluded = declaration.digest
  const times = { now: now(), interval: intervalOf(memory.id), random }
  for (const { at, cause } of wakesAfterRound(memory.file, round, isDue, times)) wake(memory.id, at, cause)
  if (held?.freesAt !== undefined) wake(memory.id, held.freesAt, 'commit')
}

const limitedBy = ({ freesAt }: Held, waiting: number): Shown => ({
  until: freesAt,
  message: [
    ...(freesAt === undefined ? ['The project alone needs more restarts than --max-restarts.'] : []),
    ...(waiting === 1 ? [] : [`${waiting} projects wait for this.`]),
  ].join(' '),
})

const releasedBy = async (
  memory: ProjectMemory,
  { replaced, digest }: Declaration,
  { loaded, review }: Manifests,
  observed: Observed,
): Promise<readonly Released[]> => {
  if (replaced === undefined) return []
  const policiesOf = (project: ObservedProject) =>
    releasedPolicies(replaced.review?.policies, review?.policies, project)
  const released = [
    ...releasedSince(replaced.loaded.desired, loaded.desired, observed),
    ...observed.projects.flatMap(policiesOf),
  ]
  if (released.length === 0) await memory.host.desired.keptAll(memory.id)
  else if (releasedCounts(released) !== '' && memory.file.releasedBy !== digest) {
    memory.isReleasing = true
    memory.change((file) => ({ ...file, releasedBy: digest }))
  }
  return released
}

/** Of the projects of an account that cannot be read, this many have events and log lines of their own. */
const MOST_EVENTS = 4

/** @param began when the round that could not read the project began. */
export const tellNotRead = async (memory: ProjectMemory, error: ApiError, began: number): Promise<void> => {
  const { now, wake, steadySince, unreadBeside, log } = memory.host
  const { state, reason, version = '', account } = memory.view
  if (unreadBeside(memory.id).length === 0 && memory.unread === undefined)
    log(`${account}: ${memory.id} cannot be read. ${error.message}`)
  const before = memory.unread !== undefined && memory.unread.since >= steadySince() ? memory.unread : undefined
  const unread = { since: before?.since ?? began, at: began, rounds: (before?.rounds ?? 0) + 1 }
  memory.unread = unread
  wake(memory.id, now() + waitAfter(unread.rounds), 'backoff')
  const shown = memory.live.readAt === undefined ? undefined : { state, reason }
  const status = afterFailedRead(error.status, unread, now(), shown)
  const others = unreadBeside(memory.id).filter((one) => one.state === 'Failing').length
  memory.isCovered ||= status.state === 'Failing' && state !== 'Failing' && others >= MOST_EVENTS
  const more = others === MOST_EVENTS - 1 ? ` More than three projects of the account ${account} cannot be read.` : ''
  await show(memory, status, version, { message: `The last read failed: ${error.message}${more}` })
}

/** Called when everything that a round needs was read, before its result is shown. */
export const tellRead = (memory: ProjectMemory): void => {
  const { unread, host, id, view } = memory
  memory.unread = undefined
  memory.isCovered = false
  if (unread !== undefined && host.unreadBeside(id).length === 0)
    host.log(`${view.account}: all projects can be read again.`)
}

export const wakeNextInterval = ({ id, host }: ProjectMemory): void => {
  const { now, wake, random, intervalOf } = host
  wake(id, now() + jittered(intervalOf(id), random()), 'interval')
}

/** Shows the worse of a state and what stops the project, and notifies of it. */
export const show = async (memory: ProjectMemory, given: AgentStatus, version: string, shown: Shown): Promise<void> => {
  const { id, live, host, invalid } = memory
  const { now, notifier, source, changed, accounts } = host
  const at = now()
  const { status: before, notified: previous = { state: 'Synced' }, applied } = memory.file
  const stop = stopOf(memory.stops)
  const { state, reason } = stop === undefined ? given : worstOf([stop, given])
  const status: AgentStatus = { state, reason }
  const isSame = before?.state === status.state && before.reason === status.reason
  const isUnknown = status.state === 'Unknown'
  const since = isUnknown ? Date.parse(memory.view.since) : isSame ? before.since : at
  const news =
    given.state === 'Progressing'
      ? undefined
      : { previous, applied, missedWindow: memory.missed, isReleasing: memory.isReleasing }
  memory.view = {
    ...shownAs(
      status,
      { ...memory.view, version: version === '' ? undefined : version },
      memory.file,
      { ...shown, ...invalid },
      {
        now: at,
        since,
        readAt: live.readAt,
      },
    ),
    account: accounts.of(id)?.account ?? memory.view.account,
    name: live.observed?.projects[0]?.name ?? memory.view.name,
    lastApply: news?.applied ?? memory.view.lastApply,
  }
  // The event of the first project that the limit of restarts holds stands for those that it holds meanwhile.
  const isHeld = status.reason === 'RestartLimit' && (isSame || host.isHeldBeside(id))
  const isCovered = memory.isCovered || isHeld
  const notable: AgentStatus = isCovered ? { state: 'Unknown' } : status
  const isSent = news !== undefined && hasNews(notable, news)
  // The news is removed from the file before it is sent, so that it is sent at most once, even if the disk is full.
  await memory.save(
    (file) => ({
      ...file,
      applied: news === undefined ? applied : undefined,
      ...(isUnknown ? {} : { status: { ...status, since } }),
      notified: isSent || isNotified(notable) ? { state: status.state, reason: status.reason } : previous,
    }),
    isSent,
  )
  if (news !== undefined) {
    memory.missed = undefined
    memory.isReleasing = false
    if (isSent) notifier?.notify(memory.view, news, source.from)
  }
  changed()
}
