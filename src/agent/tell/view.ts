/** How the result of a round is shown: the view of the project, and lines of the log. Has no side effects. */
import { counted } from '../../base/index.ts'
import {
  type AgentState,
  type AgentStatus,
  type Change,
  computeTitle,
  type DifferenceView,
  type Effect,
  effectsFrom,
  effectWords,
  type Observed,
  type ProjectView,
  repairCommand,
  type Step,
  sourceText,
  unrecordedIn,
  unsettledIn,
  unsettledWarning,
} from '../../model/index.ts'
import { differenceKey } from '../../planner/index.ts'
import { agentStatusName, differenceEffects, releasedLines } from '../../report/index.ts'
import type { Gap } from '../act/recovery.ts'
import type { ShownDifference } from '../control.ts'
import type { ProjectFile } from '../data-folder.ts'
import { originOf } from '../decide/origin.ts'
import { partsOf, type Round, worstOf } from '../decide/round.ts'

const differencesOf = (
  { whole, verdicts, steps, plan, exhausted }: Round,
  file: ProjectFile,
): readonly DifferenceView[] =>
  whole.changes.flatMap((change) => {
    const shown = new Set<Effect>()
    return partsOf(change).map((attribute): DifferenceView => {
      const all = attribute === undefined ? change.effects : effectsFrom(change, [attribute])
      const effects = all.filter((effect) => !shown.has(effect))
      for (const effect of effects) shown.add(effect)
      const key = differenceKey(change, attribute)
      const entry = file.record?.entries[key]
      const verdict = verdicts.get(key)
      const planned = verdict?.action === 'plan' ? stepStatus(change, [...plan.steps, ...exhausted], steps) : undefined
      const { state = 'Unknown', reason } = planned ?? verdict ?? {}
      const place = attribute?.source ?? change.source
      return {
        state,
        reason,
        branch: change.branch.name,
        compute: change.compute.id ?? computeTitle(change.compute),
        kind: change.kind,
        path: attribute?.path,
        live: attribute === undefined ? (entry?.seen ?? null) : (attribute.beforeText ?? null),
        want: attribute === undefined ? (entry?.want ?? null) : attribute.afterText,
        impact: attribute?.impact ?? change.impact,
        unlessIdle: change.unlessIdle,
        effects: effects.map((effect) => ({ ...effect, text: effectWords(effect, change) })),
        origin: entry === undefined ? 'unrecorded' : originOf(entry),
        declaredAt: place && sourceText(place),
      }
    })
  })

/** Whether these are the unrecorded ones among the differences. */
export const isSameAs = (shown: readonly ShownDifference[], differences: readonly DifferenceView[]): boolean => {
  const textOf = (all: readonly ShownDifference[]): string =>
    JSON.stringify(all.map(({ compute, path, live, want }) => [compute, path, live, want]))
  return textOf(shown) === textOf(unrecordedIn(differences))
}

/** The status of the first step of a change that does not run or, if all of its steps run, of its first step. */
const stepStatus = (change: Change, all: readonly Step[], steps: Round['steps']): AgentStatus | undefined => {
  const own = all.filter((step) => step.change === change.id).flatMap(({ id }) => steps.get(id) ?? [])
  return own.find(({ action }) => action !== 'run') ?? own[0]
}

/** The command with which a user resolves the state. */
const commandFor = (
  project: string,
  { state, reason }: AgentStatus,
  version: string | undefined,
): string | undefined => {
  switch (reason) {
    case 'HistoryRewritten':
    case 'RestartLimit':
      return `espalier agent reconcile ${project} --accept ${version?.slice(0, 12) ?? 'COMMIT'}`
    case 'Unrecorded':
      return `espalier agent adopt ${project}`
    case 'Refused':
    case 'Conflict':
      return `espalier agent reconcile ${project}`
    case 'GitStale':
    case 'Wave':
    case 'DriftUnconfirmed':
      return undefined
    case 'PlanError':
    case 'Policy':
    case 'Protected':
      return `espalier plan --project ${project}`
    case 'KeyRefused':
    case 'Unreachable':
      return undefined
    default:
  }
  if (state === 'Suspended') return `espalier agent resume ${project}`
  return state === 'Blocked' || state === 'OutOfSync' ? `espalier apply --project ${project}` : undefined
}

/** The fields of the view that the round determined. The other fields keep their previous values. */
export interface Shown {
  readonly message?: string | undefined
  /** When a project can go on that waits for something other than a window. */
  readonly until?: number | undefined
  /** Shown instead of the command that is usually suggested for the state. */
  readonly command?: string | undefined
  readonly differences?: ProjectView['differences']
  readonly released?: ProjectView['released']
  readonly sync?: ProjectView['sync']
  readonly scheduledSteps?: number
}

interface Verdict {
  readonly status: AgentStatus
  readonly shown: Shown
}

/** The state of a project after a round, and what is shown of the round. */
export const concluded = (round: Round, file: ProjectFile, observed: Observed): Verdict => {
  const [[compute = '', stuck] = []] = Object.entries(file.failedOperations)
  const message = file.failure ?? stuck?.message
  // A failed operation of somebody else does not stop the agent, except that later waves wait.
  const [unsettled] = unsettledIn(observed.projects, round.whole)
  const [{ id: project = '' } = {}] = observed.projects
  const status = worstOf([round.status, ...(message === undefined ? [] : [{ state: 'Failing' } as const])])
  const isFailing = status.state === 'Failing'
  return {
    status,
    shown: {
      message: isFailing ? message : unsettled && unsettledWarning(unsettled).message,
      // Nothing is retried automatically, because the API does not show whether the value took effect.
      command:
        isFailing && file.failure === undefined && stuck?.repair !== undefined
          ? repairCommand(stuck.repair, compute, project)
          : !isFailing && unsettled !== undefined
            ? repairCommand(unsettled.repair, unsettled.id, project)
            : undefined,
      differences: differencesOf(round, file),
      sync: round.whole.changes.length === 0 ? 'Synced' : 'OutOfSync',
      scheduledSteps: [...round.steps.values()].filter(({ action }) => action === 'wait').length,
    },
  }
}

export const shownAs = (
  status: AgentStatus,
  last: ProjectView,
  { suspension, wait, retryAt, missed, gap }: ProjectFile,
  shown: Shown,
  { now, since, readAt }: { readonly now: number; readonly since: number; readonly readAt: number | undefined },
): ProjectView => {
  const opensAt = wait !== undefined && wait.opensAt > now ? wait.opensAt : undefined
  const endOf: Partial<Record<AgentState, number | undefined>> = {
    Suspended: suspension?.until,
    Failing: retryAt,
    Scheduled: shown.until ?? opensAt,
  }
  const isStopped = status.state === 'Suspended'
  return {
    ...last,
    state: status.state,
    reason: status.reason,
    since: new Date(since).toISOString(),
    message:
      [gap && gapWords(gap), isStopped ? suspension?.reason : shown.message].filter(Boolean).join(' ') || undefined,
    command:
      (isStopped ? undefined : shown.command) ??
      commandFor(last.id, status, last.version) ??
      (gap && `espalier apply --project ${last.id}`),
    withoutPrimary: gap?.branches,
    until: timeOf(endOf[status.state]),
    was: status.state === 'Unknown' ? last.was : undefined,
    sync: shown.sync ?? last.sync,
    differences: shown.differences ?? last.differences,
    released: shown.released ?? last.released,
    scheduledSteps: shown.scheduledSteps ?? last.scheduledSteps,
    refreshedAt: timeOf(readAt),
    windowOpensAt: timeOf(opensAt),
    missedWindow: missed,
  }
}

/** Says which branches the agent has left without their primary. */
export const gapWords = ({ branches, steps, since }: Gap & { readonly since?: number }): string => {
  const subject = `${branches.length === 1 ? 'Branch' : 'Branches'} ${branches.join(', ')} ${branches.length === 1 ? 'has' : 'have'}`
  const from = since === undefined ? '' : ` since ${timeOf(since)}`
  return `${subject} no primary${from}: ${counted(steps, 'step')} left.`
}

const timeOf = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString()

/** One line for each completed step, missed window, removal from the manifests and change of state. */
export const logLines = (before: ProjectView, after: ProjectView): readonly string[] => {
  const lines: string[] = []
  const { lastApply: applied, missedWindow: missed, message } = after
  if (applied !== undefined && applied.at !== before.lastApply?.at) {
    for (const step of applied.done) lines.push(`${after.id}  done: ${step}`)
    for (const effect of applied.effects) lines.push(`${after.id}  effect: ${effect}`)
  }
  if (missed !== undefined && after.missedWindows > before.missedWindows) {
    lines.push(`${after.id}  window missed: ${missed.opensAt} to ${missed.closesAt}, ${missed.cause}`)
  }
  const known = new Set(releasedLines(before.released))
  for (const line of releasedLines(after.released)) {
    if (!known.has(line)) lines.push(`${after.id}  ${line}`)
  }
  if (before.state !== after.state || before.reason !== after.reason) {
    const until = after.until === undefined ? '' : ` until ${after.until}`
    const count = after.differences.length
    const differing = count === 0 ? '' : ` (${counted(count, 'difference')})`
    const reason = message === undefined ? '' : `. ${message}`
    lines.push(`${after.id}  ${agentStatusName(after)}${differing}${until}${reason}`)
    for (const one of after.differences) {
      for (const effect of differenceEffects(one, after.differences))
        lines.push(`${after.id}  effect, once applied: ${one.compute} on ${one.branch}: ${effect}`)
    }
  }
  return lines
}
