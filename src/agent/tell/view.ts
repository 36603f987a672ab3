/** Describes the differences found in a project's last round, and the command that resolves its state. */
import { type AgentStatus, type Change, computeTitle, type DifferenceView, type Step } from '../../model/index.ts'
import { differenceKey } from '../../planner/index.ts'
import type { ProjectFile } from '../data-folder.ts'
import { originOf } from '../decide/origin.ts'
import { partsOf, type Round } from '../decide/round.ts'

export const differencesOf = (
  { whole, verdicts, steps, plan, exhausted }: Round,
  file: ProjectFile,
): readonly DifferenceView[] =>
  whole.changes.flatMap((change) => {
    return partsOf(change).map((attribute): DifferenceView => {
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
        origin: entry === undefined ? 'unrecorded' : originOf(entry),
        declaredAt: place && `${place.file}:${place.line}:${place.column}`,
      }
    })
  })

/** The status of the first step of a change that does not run or, if all of its steps run, of its first step. */
const stepStatus = (change: Change, all: readonly Step[], steps: Round['steps']): AgentStatus | undefined => {
  const own = all.filter((step) => step.change === change.id).flatMap(({ id }) => steps.get(id) ?? [])
  return own.find(({ action }) => action !== 'run') ?? own[0]
}

/** The command with which a user resolves the state. */
export const commandFor = (
  project: string,
  { state, reason }: AgentStatus,
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
