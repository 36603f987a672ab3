/** Numbers, durations and summary lines. */
import { CHANGE_KINDS, type ChangeKind, type Plan, type PlanSummary } from '../../model/index.ts'

export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${group(count)} ${count === 1 ? noun : plural}`

/** `12,345`, in every locale. */
export const group = (count: number): string => String(count).replace(/\B(?=(\d{3})+(?!\d))/g, ',')

/** `2.5 s`, `1 min 20 s`. */
export const time = (ms: number): string => {
  const seconds = ms / 1_000
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`
  if (seconds < 60) return `${Math.round(seconds)} s`
  const rest = Math.round(seconds) % 60
  return `${Math.floor(Math.round(seconds) / 60)} min${rest === 0 ? '' : ` ${rest} s`}`
}

/** In whole seconds, so that it does not flicker when redrawn. */
export const elapsed = (ms: number): string => time(Math.max(0, Math.floor(ms / 1_000)) * 1_000)

/** `2026-11-25 02:00 UTC`, from an ISO time in UTC. */
export const minuteOf = (iso: string): string => iso.replace(/T(\d\d:\d\d).*$/, ' $1 UTC')

/** The summary line, which scripts search for. */
export const planLine = (summary: PlanSummary): string =>
  `Plan: ${CHANGE_KINDS.filter((kind) => ALWAYS_COUNTED.has(kind) || summary[kind] > 0)
    .map((kind) => `${group(summary[kind])} to ${kind}`)
    .join(', ')}.`

/** Other kinds are rare, and counted only if there are any. */
const ALWAYS_COUNTED: ReadonlySet<ChangeKind> = new Set(['create', 'update', 'delete'])

/** Interruptions and refused changes, which the summary line does not count. */
export const interruptions = (summary: PlanSummary): string =>
  [
    summary.restarts === 0 ? 'no restarts' : `${counted(summary.restarts, 'restart')}`,
    ...(summary.mayRestart > 0 ? [`${summary.mayRestart} that may restart`] : []),
    ...(summary.disconnects > 0 ? [counted(summary.disconnects, 'disconnect')] : []),
    ...(summary.refused > 0 ? [`${summary.refused} refused`] : []),
  ].join(', ')

export const NO_CHANGES = 'No changes. The live project matches the manifests.'

/** `1 of 3 projects`; `undefined` if none is left out. */
export const projectsLeftOut = ({ projects, leftOut = [] }: Plan): string | undefined =>
  leftOut.length === 0
    ? undefined
    : `${group(leftOut.length)} of ${counted(projects.length + leftOut.length, 'project')}`

/** Replaces the summary line if there is nothing to do. */
export const emptyVerdict = (plan: Plan): string => {
  const total = plan.projects.length + (plan.leftOut?.length ?? 0)
  return plan.leftOut === undefined
    ? NO_CHANGES
    : `No changes in ${group(plan.projects.length)} of ${counted(total, 'project')}.`
}

export const RELEASED_HINT =
  'What is no longer managed keeps running; nothing deletes it. To delete a primary, keep its branch in the manifest with `primary: absent`. To delete a replica, keep its branch and set `prune: true`, which deletes every compute that the branch does not declare.'
