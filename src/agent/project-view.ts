/** A project's view, built from its last round. Pure. */
import { type AttributeChange, type Change, computeTitle, type Plan, type Step } from '../model/index.ts'
import { differenceKey } from '../planner/index.ts'
import type { ProjectFile } from './data-folder.ts'
import { originOf } from './record.ts'
import type { Round } from './round.ts'
import type { Status } from './state.ts'
import type { DifferenceView, ProjectView } from './view.ts'

export const differencesOf = (
  whole: Plan,
  { verdicts, steps, plan, exhausted }: Round,
  file: ProjectFile,
): readonly DifferenceView[] =>
  whole.changes.flatMap((change) => {
    const parts: readonly (AttributeChange | undefined)[] = change.kind === 'update' ? change.attributes : [undefined]
    return parts.map((attribute): DifferenceView => {
      const key = differenceKey(change, attribute)
      const entry = file.record?.entries[key]
      const verdict = verdicts.get(key)
      const planned = verdict?.action === 'plan' ? stepStatus(change, [...plan.steps, ...exhausted], steps) : undefined
      const { state = 'Unknown', reason } = planned ?? verdict ?? {}
      const place = attribute?.source ?? change.source
      return {
        state,
        ...(reason === undefined ? {} : { reason }),
        branch: change.branch.name,
        compute: change.compute.id ?? computeTitle(change.compute),
        kind: change.kind,
        ...(attribute === undefined ? {} : { path: attribute.path }),
        live: attribute === undefined ? (entry?.seen ?? null) : (attribute.beforeText ?? null),
        want: attribute === undefined ? (entry?.want ?? null) : attribute.afterText,
        impact: attribute?.impact ?? change.impact,
        origin: entry === undefined ? 'unrecorded' : originOf(entry),
        ...(place === undefined ? {} : { declaredAt: `${place.file}:${place.line}:${place.column}` }),
      }
    })
  })

/** Status of the first step of a change that does not run unconditionally. */
const stepStatus = (change: Change, all: readonly Step[], steps: Round['steps']): Status | undefined => {
  const own = all.filter((step) => step.change === change.id).flatMap(({ id }) => steps.get(id) ?? [])
  return own.find(({ action }) => action !== 'run') ?? own[0]
}

/** The command with which a user resolves it. */
export const commandFor = (
  project: string,
  { state, reason }: Status,
  version: string | undefined,
): string | undefined => {
  switch (reason) {
    case 'HistoryRewritten':
      return `espalier agent reconcile ${project} --accept ${version?.slice(0, 12) ?? 'COMMIT'}`
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

/** The state of a project before its first refresh. */
export const unknownProject = (id: string, account: string, since: number): ProjectView => ({
  id,
  account,
  state: 'Unknown',
  since: new Date(since).toISOString(),
  sync: 'Unknown',
  differences: [],
  scheduledSteps: 0,
  missedWindows: 0,
})

export interface Shown {
  readonly message?: string | undefined
  /** Overrides the command suggested by the state. */
  readonly command?: string | undefined
  readonly differences?: ProjectView['differences']
  readonly sync?: ProjectView['sync']
  readonly scheduledSteps?: number
}

interface Around {
  readonly at: number
  readonly since: number
  readonly account: string | undefined
  readonly name: string | undefined
  readonly version: string
  /** When it was last read. */
  readonly readAt: number | undefined
}

/** Fields that the round did not determine keep their previous value. */
export const shownProject = (
  last: ProjectView,
  status: Status,
  { suspension, wait, retryAt, missed }: ProjectFile,
  shown: Shown,
  { at, since, account = last.account, name = last.name, version, readAt }: Around,
): ProjectView => {
  const endOf: Partial<Record<Status['state'], number | undefined>> = {
    Suspended: suspension?.until,
    Failing: retryAt,
    Scheduled: wait?.opensAt,
  }
  const until = endOf[status.state]
  const message = status.state === 'Suspended' ? suspension?.reason : shown.message
  const usual = commandFor(last.id, status, version)
  const command = status.state === 'Suspended' ? usual : (shown.command ?? usual)
  const { lastApply, missedWindows } = last
  const { state, reason } = status
  return {
    id: last.id,
    account,
    ...(name === undefined ? {} : { name }),
    state,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    since: timeOf(since),
    ...(until === undefined ? {} : { until: timeOf(until) }),
    sync: shown.sync ?? last.sync,
    differences: shown.differences ?? last.differences,
    scheduledSteps: shown.scheduledSteps ?? last.scheduledSteps,
    ...(version === '' ? {} : { version }),
    ...(readAt === undefined ? {} : { refreshedAt: timeOf(readAt) }),
    ...(wait !== undefined && wait.opensAt > at ? { windowOpensAt: timeOf(wait.opensAt) } : {}),
    ...(missed === undefined ? {} : { missedWindow: missed }),
    missedWindows,
    ...(lastApply === undefined ? {} : { lastApply }),
    ...(command === undefined ? {} : { command }),
  }
}

const timeOf = (at: number): string => new Date(at).toISOString()
