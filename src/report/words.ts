/** The words in which every renderer speaks of changes and steps. */
import {
  CHANGE_KINDS,
  type ChangeKind,
  computeTitle,
  formatWindow,
  IMPACT_WORDS,
  type Impact,
  leftOutIds,
  type Plan,
  type PlanSummary,
  type ReleasedCompute,
  type RestartWindow,
  type Source,
  stepTitle,
} from '../model/index.ts'
import { openingOf } from '../windows/index.ts'
import { plainText } from './plain-text.ts'
import { counted, group } from './style.ts'

export { computeTitle, stepTitle }

export const SYMBOLS: Readonly<Record<ChangeKind, string>> = {
  create: '+',
  update: '~',
  move: '→',
  replace: '-/+',
  delete: '-',
}

/** What it does to its users; on an idle compute also what it would do otherwise. */
export const impactWords = ({
  impact,
  unlessIdle,
}: {
  readonly impact: Impact
  readonly unlessIdle?: Impact
}): string => {
  if (unlessIdle === undefined) return IMPACT_WORDS[impact]
  const otherwise = IMPACT_WORDS[unlessIdle].replace(/:.*$/, '')
  return impact === 'none'
    ? `idle: no one is connected (${otherwise} if it is active by then)`
    : `${IMPACT_WORDS[impact]} (${otherwise} as well if it is active by then)`
}

/**
 * When it may interrupt; empty without windows. `now` (ISO 8601) tells also whether that is so, and else when it will be.
 */
export const windowWords = (
  { windows, impact }: { readonly windows?: readonly RestartWindow[]; readonly impact: Impact },
  now?: string,
  isOverridden = false,
): string => {
  if (windows === undefined) return ''
  const words = windows.map(formatWindow).join(' and ')
  const which = windows.length === 1 ? 'its restart window' : 'the restart windows'
  if (impact === 'none') return `if it is active by then: only in ${which}: ${words}`
  if (now === undefined) return `only in ${which}: ${words}`
  const { isOpen, opensLocally } = openingOf(windows, Date.parse(now))
  if (isOverridden && !isOpen) return `outside of ${which}, which --now overrides: ${words}`
  if (isOpen) return `in ${which}, open now: ${words}`
  return opensLocally === undefined
    ? `waits for ${which}, not open at once within a year: ${words}`
    : `waits for ${which}: ${words}, opens ${opensLocally}`
}

/** Whether the eye should fall on it first. */
export const isDisruptive = (impact: Impact): boolean => impact !== 'none'

export const place = ({ file, line }: Source): string => `${plainText(file)}:${line}`

/** Whether they are of several projects: branches of one name then need the project's beside it. */
export const isOfFleet = (all: Iterable<{ readonly project: string }>): boolean => {
  let first: string | undefined
  for (const { project } of all) {
    first ??= project
    if (project !== first) return true
  }
  return false
}

/** Whether names of branches need that of their project beside them. */
export const hasSeveralProjects = (plan: Plan, released: readonly ReleasedCompute[] = []): boolean =>
  new Set([...plan.projects, ...leftOutIds(plan), ...released.map(({ project }) => project)]).size > 1

/** `1 of 3 projects`; `undefined` where none is left out. */
export const projectsLeftOut = ({ projects, leftOut = [] }: Plan): string | undefined =>
  leftOut.length === 0
    ? undefined
    : `${group(leftOut.length)} of ${counted(projects.length + leftOut.length, 'project')}`

/** In the place of the counts, where there is nothing to do. */
export const emptyVerdict = (plan: Plan): string => {
  const total = plan.projects.length + (plan.leftOut?.length ?? 0)
  return plan.leftOut === undefined
    ? NO_CHANGES
    : `No changes in ${group(plan.projects.length)} of ${counted(total, 'project')}.`
}

export const RELEASED_HINT =
  'They keep running, and nothing deletes them. To delete one instead, keep its branch in the manifest and declare `primary: absent`, or set `prune: true`, which deletes whatever the branch does not declare.'

/** What the counts of `Plan: …` do not say: interruptions, and what is refused. */
export const interruptions = (summary: PlanSummary): string =>
  [
    summary.restarts === 0 ? 'no restarts' : `${counted(summary.restarts, 'restart')}`,
    ...(summary.mayRestart > 0 ? [`${summary.mayRestart} that may restart`] : []),
    ...(summary.disconnects > 0 ? [counted(summary.disconnects, 'disconnect')] : []),
    ...(summary.refused > 0 ? [`${summary.refused} refused by protection`] : []),
  ].join(', ')

/** The line that everyone greps for. */
export const planLine = (summary: PlanSummary): string =>
  `Plan: ${CHANGE_KINDS.filter((kind) => COUNTED_ALWAYS.has(kind) || summary[kind] > 0)
    .map((kind) => `${group(summary[kind])} to ${kind}`)
    .join(', ')}.`

/** Moves and replacements are rare: they are named where there are any. */
const COUNTED_ALWAYS: ReadonlySet<ChangeKind> = new Set(['create', 'update', 'delete'])

export const NO_CHANGES = 'No changes. The live project is as the manifests say.'

/** `2.5 s`, `1 min 20 s`. */
export const time = (ms: number): string => {
  const seconds = ms / 1_000
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`
  if (seconds < 60) return `${Math.round(seconds)} s`
  const rest = Math.round(seconds) % 60
  return `${Math.floor(Math.round(seconds) / 60)} min${rest === 0 ? '' : ` ${rest} s`}`
}
