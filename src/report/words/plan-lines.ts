/** Sentences about a plan as a whole, and about the results of its policies. */
import { counted, group, groupBy, listed } from '../../base/index.ts'
import {
  type CapacityTotal,
  CHANGE_KINDS,
  type Change,
  countChanges,
  type Impact,
  isRefused,
  type Origin,
  type Plan,
  type PlanSummary,
  type PolicyResult,
} from '../../model/index.ts'
import { number, time } from './counts.ts'
import { impactCount, impactCounts } from './impacts.ts'
import { planNames, projectTitle } from './names.ts'
import { isReleasing, releasedParts } from './released.ts'

/** The summary. Scripts search the output for it: `Plan: 1 to create, 3 to update.` */
export const planLine = (summary: PlanSummary): string => {
  const counts = CHANGE_KINDS.filter((kind) => summary[kind] > 0).map((kind) => `${group(summary[kind])} to ${kind}`)
  return `Plan: ${counts.length === 0 ? 'nothing to do' : counts.join(', ')}.`
}

/** Counts what the summary line does not: `1 restart, 2 restarts if in use, 1 refused`. Empty if that is nothing. */
export const interruptions = ({ summary, changes }: Pick<Plan, 'summary' | 'changes'>): string => {
  const found = impactCounts(summary)
  const words = [
    ...found.flatMap(([impact, count]) => (NAMED_BY_KIND.has(impact) ? [] : [impactCount(impact, count)])),
    ...ifInUse(changes).map(([, text]) => text),
    ...(summary.refused > 0 ? [`${summary.refused} refused`] : []),
  ]
  return found.length + words.length === 0 ? 'no restarts' : words.join(', ')
}

/** What happens to computes that are idle now if they are in use by then: `2 restarts if in use`. */
export const ifInUse = (changes: readonly Change[]): readonly (readonly [Impact, string])[] => {
  const idle = changes.filter((change) => !isRefused(change) && change.impact === 'none')
  return [
    ...groupBy(
      idle.flatMap(({ unlessIdle }) => unlessIdle ?? []),
      String,
    ),
  ].map(([, own]) => [own[0] ?? 'restart', `${impactCount(own[0] ?? 'restart', own.length)} if in use`])
}

/** Impacts that the summary line already counts, as kinds of change. */
const NAMED_BY_KIND: ReadonlySet<Impact> = new Set<Impact>(['move', 'replace', 'delete'])

/** `1 unmanaged compute is left alone`. */
export const unmanagedWords = ({ unmanaged }: Plan): readonly string[] =>
  unmanaged.length === 0
    ? []
    : [`${counted(unmanaged.length, 'unmanaged compute')} ${unmanaged.length === 1 ? 'is' : 'are'} left alone`]

/** `7 computes managed, 1 unmanaged, 1 of 3 projects left out`. */
export const coverageLine = (plan: Plan): string => {
  const leftOut = projectsLeftOut(plan)
  return [
    `${counted(plan.summary.managed, 'compute')} managed`,
    ...(plan.summary.unmanaged === 0 ? [] : [`${group(plan.summary.unmanaged)} unmanaged`]),
    ...(leftOut === undefined ? [] : [`${leftOut} left out`]),
  ].join(', ')
}

/** `1 of 3 projects`, or `undefined` if no project is left out. */
export const projectsLeftOut = ({ projects, leftOut = [] }: Plan): string | undefined =>
  leftOut.length === 0
    ? undefined
    : `${group(leftOut.length)} of ${counted(projects.length + leftOut.length, 'project')}`

/** Shown in place of the summary line if there is nothing to do. */
export const emptyVerdict = (plan: Plan, origin?: Pick<Origin, 'released'>): string => {
  const { projects, leftOut, skipped = [], selection } = plan
  if (origin !== undefined && isReleasing(plan, origin)) {
    const stays = releasedParts(origin.released).some(({ id }) => id === 'released')
    return `Nothing to apply.${stays ? ' What is no longer managed stays as it is.' : ''}`
  }
  const where =
    leftOut === undefined
      ? ''
      : ` in ${group(projects.length)} of ${counted(projects.length + leftOut.length, 'project')}`
  const unselected = selection?.leftOut.changes ?? 0
  const unsettled = plan.warnings.filter(({ code }) => code === 'W_UNSETTLED').length
  const others = [
    ...(skipped.length === 0 ? [] : [`${counted(skipped.length, 'change')} skipped`]),
    ...(unselected === 0 ? [] : [`${counted(unselected, 'change')} not selected`]),
    ...(unsettled === 0 ? [] : [`${counted(unsettled, 'compute')} unsettled`]),
  ]
  if (others.length > 0) return `No changes to apply${where}: ${others.join(', ')}.`
  if (projects.length === 0) return 'No changes.'
  return where === '' ? 'No changes. The live project matches the manifests.' : `No changes${where}.`
}

/** The estimated duration of the slowest project, because projects run concurrently. 0 if it is unknown. */
export const expectedMs = ({ estimates }: Plan): number =>
  estimates.reduce((most, { medianMs }) => Math.max(most, medianMs), 0)

/** `about 2 s, at most 5 s in 19 of 20 cases`. */
export const expectedTime = (plan: Plan): string => {
  const slow = plan.estimates.reduce((most, { p95Ms }) => Math.max(most, p95Ms), 0)
  return `about ${time(expectedMs(plan))}, at most ${time(slow)} in 19 of 20 cases`
}

/** Whether the manifests introduce no changes. False if they could not be compared completely. */
export const isUnchanged = (plan: Plan, origin: Origin): boolean =>
  origin.introduced.length === 0 &&
  origin.settled.length === 0 &&
  origin.gaps === undefined &&
  plan.leftOut === undefined &&
  !isReleasing(plan, origin)

/**
 * The changes that are skipped because their branch expires soon:
 * `update primary on preview/x: preview/x expires in 40 min`.
 */
export const skippedLines = (plan: Plan): readonly string[] => {
  const names = planNames(plan)
  return (plan.skipped ?? []).map((change) => `${change.kind} ${names.compute(change)}: ${change.sentence}`)
}

/** `canary (2 projects, 3 steps)`, in the order in which waves are applied. Empty if there are fewer than two waves. */
export const waveLines = ({ waves = [], projects, steps }: Plan): readonly string[] => {
  const named = new Set(waves.flatMap((wave) => wave.projects))
  const rest = projects.filter((project) => !named.has(project))
  const all = [...waves, { name: 'projects in no wave', projects: rest }].filter((wave) => wave.projects.length > 0)
  if (all.length < 2 || steps.length === 0) return []
  return all.map((wave) => {
    const count = steps.filter(({ project }) => wave.projects.includes(project)).length
    return `${wave.name} (${counted(wave.projects.length, 'project')}, ${counted(count, 'step')})`
  })
}

/** `2 computes restart, 1 is created, none is deleted.` */
export const verdict = (changes: readonly Change[]): string => {
  const counts = countChanges(changes)
  const made = changes.filter((change) => !isRefused(change))
  const idle = made.filter(({ impact, unlessIdle }) => impact === 'none' && unlessIdle !== undefined)
  const quiet = made.filter((change) => change.kind === 'update' && change.impact === 'none' && !idle.includes(change))
  const waiting = made.filter(({ windows, impact }) => windows !== undefined && impact !== 'none').length
  const all: readonly (readonly [count: number, one: string, many: string])[] = [
    [counts.restarts, 'restarts', 'restart'],
    [counts.mayRestart, 'may restart', 'may restart'],
    [counts.disconnects, 'disconnects', 'disconnect'],
    [counts.move, 'moves', 'move'],
    [counts.replace, 'is replaced (new host)', 'are replaced (new host)'],
    [counts.create, 'is created', 'are created'],
    [idle.length, 'is interrupted only if in use', 'are interrupted only if in use'],
    [quiet.length, 'changes without interrupting anyone', 'change without interrupting anyone'],
    [counts.delete, 'is deleted', 'are deleted'],
    [waiting, 'waits for its restart window', 'wait for their restart windows'],
    [counts.refused, 'is refused', 'are refused'],
  ]
  // Deletions are mentioned even if there are none, unless everything is refused.
  const found = all.filter(
    ([count, one]) => count > 0 || (one === 'is deleted' && (made.length > 0 || counts.refused === 0)),
  )
  const phrases = found.map(([count, one, many], index) => {
    if (count === 0) return `none ${one}`
    return `${index === 0 ? counted(count, 'compute') : group(count)} ${count === 1 ? one : many}`
  })
  return `${phrases.join(', ')}.`
}

/**
 * The verdict on a whole plan. What is refused or denied does not run, so its effects are not counted.
 *
 * @param quote formats a name or a reason.
 */
export const planVerdict = (plan: Plan, quote: (name: string) => string = String): string => {
  const { policies, projects } = deniedBy(plan)
  const made = plan.changes.filter((change) => !isRefused(change))
  const [refused, ...more] = plan.changes.filter((change) => isRefused(change) && change.isDenied !== true)
  const [who, deny] = policies.length === 1 ? ['policy', 'denies'] : ['policies', 'deny']
  const why = `${who} ${listed(policies.map(quote), MOST_NAMES)} ${deny} it.`
  const where = `${projects.length === 1 ? 'project' : 'projects'} ${listed(projects.map(quote), MOST_NAMES)}`
  const parts = made.length > 0 ? [verdict(made)] : []
  if (refused !== undefined) {
    const title = quote(`${refused.kind} ${planNames(plan).compute(refused)}`)
    const one = `${title} is refused, because ${quote(refused.refused ?? '')}.`
    const start = made.length === 0 ? 'Nothing will run: ' : ''
    parts.push(start + (more.length === 0 ? one : `${group(more.length + 1)} changes are refused.`))
  }
  if (policies.length > 0) parts.push(`Nothing will run${parts.length === 0 ? '' : ` in ${where}`}: ${why}`)
  return parts.join(' ')
}

const MOST_NAMES = 5

/** A range of values. If there is only one value, `from` and `to` are equal. */
export interface Range {
  readonly from: number
  readonly to: number
  /** `0.25–4 CU`. */
  readonly words: string
}

export interface Measure {
  readonly name: string
  readonly unit: string
  readonly before: Range
  readonly after: Range
}

export const measuresOf = ({ before, after }: PlanSummary['capacity']): readonly Measure[] => {
  const measure = (name: string, unit: string, of: (total: CapacityTotal) => readonly [number, number]): Measure => ({
    name,
    unit,
    before: rangeOf(of(before), unit),
    after: rangeOf(of(after), unit),
  })
  return [
    measure('computes', '', ({ computes }) => [computes, computes]),
    measure('size', ' CU', ({ minCu, maxCu }) => [minCu, maxCu]),
    measure('RAM', ' GB', ({ ramGb }) => [ramGb, ramGb]),
    measure('max_connections', '', ({ maxConnections }) => [maxConnections, maxConnections]),
  ]
}

const rangeOf = ([from, to]: readonly [number, number], unit: string): Range => ({
  from,
  to,
  words: `${from === to ? '' : `${number(from)}–`}${number(to)}${unit}`,
})

/** One line for each result, with denials first. @param hasFlags whether to name the flag that overrides a policy. */
export const policyLines = (plan: Pick<Plan, 'policies' | 'projectNames'>, hasFlags = true) => {
  const results = plan.policies?.results ?? []
  const isFleet = new Set(results.map(({ project }) => project)).size > 1
  const title = projectTitle(plan)
  // A message about a whole project already contains the project's name.
  const start = ({ project, branch }: PolicyResult): string =>
    isFleet && project !== undefined && branch !== undefined ? `${title(project)}: ` : ''
  return [...results]
    .sort((a, b) => ORDER.indexOf(a.outcome) - ORDER.indexOf(b.outcome))
    .map((result) => ({ text: start(result) + policyText(result, hasFlags), isDenied: result.outcome === 'denied' }))
}

const ORDER: readonly PolicyResult['outcome'][] = ['denied', 'overridden', 'warned', 'unknown', 'existing']

const policyText = (result: PolicyResult, hasFlags: boolean): string => {
  const { outcome, message, reason, policy, override, overriddenBy: by } = result
  const start = `${message.replace(/\.$/, '')}. ${reason}`
  switch (outcome) {
    case 'denied':
      return `${start}${hasFlags ? ` To override, pass --override ${policy}=REASON.` : ''}`
    case 'overridden':
      return `${start} Overridden${by === undefined ? '' : ` by ${by}`}: ${override}`
    case 'existing':
      return `${start} (not introduced by this plan)`
    default:
      return start
  }
}

/** One line for each policy that is overridden: `policy \`preview-size\` overridden by octocat: load test`. */
export const overriddenWords = ({ policies }: Pick<Plan, 'policies'>): readonly string[] => [
  ...new Set(
    (policies?.results ?? []).flatMap(({ policy, override, overriddenBy: by }) =>
      override === undefined
        ? []
        : [`policy \`${policy}\` overridden${by === undefined ? '' : ` by ${by}`}: ${override}`],
    ),
  ),
]

/** The names of the policies that deny something, and the titles of the projects that this blocks. */
export const deniedBy = (plan: Pick<Plan, 'policies' | 'projectNames' | 'projects'>) => {
  const denied = (plan.policies?.results ?? []).filter(({ outcome }) => outcome === 'denied')
  const projects = denied.flatMap(({ project }) => project ?? plan.projects)
  return {
    policies: [...new Set(denied.map(({ policy }) => policy))],
    projects: [...new Set(projects)].map(projectTitle(plan)),
  }
}
