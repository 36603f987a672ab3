/** Sentences about a plan as a whole, and about the results of its policies. */
import { counted, group } from '../../base/index.ts'
import {
  type CapacityTotal,
  CHANGE_KINDS,
  type Change,
  type ChangeKind,
  type Impact,
  isRefused,
  isRestart,
  type Origin,
  type Plan,
  type PlanSummary,
  type PolicyResult,
} from '../../model/index.ts'
import { number, time } from './counts.ts'
import { impactCount, impactCounts } from './impacts.ts'
import { planNames, projectTitle } from './names.ts'

/** The summary line. Scripts search the output for it. */
export const planLine = (summary: PlanSummary): string =>
  `Plan: ${CHANGE_KINDS.filter((kind) => ALWAYS_COUNTED.has(kind) || summary[kind] > 0)
    .map((kind) => `${group(summary[kind])} to ${kind}`)
    .join(', ')}.`

/** These kinds are always counted. The other kinds are rare, and are counted only if they occur. */
const ALWAYS_COUNTED: ReadonlySet<ChangeKind> = new Set(['create', 'update', 'delete'])

/** Counts interruptions and refused changes, which are not part of the summary line. */
export const interruptions = (summary: PlanSummary): string =>
  [
    ...(summary.restarts === 0 ? ['no restarts'] : []),
    ...impactCounts(summary).flatMap(([impact, count]) =>
      NAMED_BY_KIND.has(impact) ? [] : [impactCount(impact, count)],
    ),
    ...(summary.refused > 0 ? [`${summary.refused} refused`] : []),
  ].join(', ')

/** Impacts that the summary line already counts, as kinds of change. */
const NAMED_BY_KIND: ReadonlySet<Impact> = new Set<Impact>(['move', 'replace', 'delete'])

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
export const emptyVerdict = ({ projects, leftOut }: Plan): string =>
  leftOut === undefined
    ? 'No changes. The live project matches the manifests.'
    : `No changes in ${group(projects.length)} of ${counted(projects.length + leftOut.length, 'project')}.`

/** The estimated duration of the slowest project, because projects run concurrently. 0 if it is unknown. */
export const expectedMs = ({ estimates }: Plan): number =>
  estimates.reduce((most, { medianMs }) => Math.max(most, medianMs), 0)

/** `about 2 s, at most 5 s in 19 of 20 cases`. */
export const expectedTime = (plan: Plan): string => {
  const slow = plan.estimates.reduce((most, { p95Ms }) => Math.max(most, p95Ms), 0)
  return `about ${time(expectedMs(plan))}, at most ${time(slow)} in 19 of 20 cases`
}

/** Whether the manifests remove or change protection, a restart window or `prune`, which no change of a compute shows. */
export const changesSafeguards = ({ warnings }: Plan): boolean =>
  warnings.some(({ code }) => code === 'W_SAFEGUARD_REMOVED' || code === 'W_WINDOW_CHANGED')

/** Whether the manifests introduce no changes. False if they could not be compared completely. */
export const isUnchanged = (plan: Plan, { introduced, settled, released, gaps }: Origin): boolean =>
  introduced.length === 0 &&
  settled.length === 0 &&
  released.length === 0 &&
  gaps === undefined &&
  plan.leftOut === undefined &&
  !changesSafeguards(plan)

export const RELEASED_HINT =
  'A compute that is no longer managed keeps running, and Espalier does not delete it. To delete one, keep its branch in the manifest and declare it `absent`: `primary: absent`, or `replicas: { NAME: absent }`.'

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
  if (all.length < 2) return []
  return all.map((wave) => {
    const count = steps.filter(({ project }) => wave.projects.includes(project)).length
    return `${wave.name} (${counted(wave.projects.length, 'project')}, ${counted(count, 'step')})`
  })
}

/** The wording for one compute, the wording for several, and a test for the changes that it describes. */
const EFFECTS: readonly (readonly [string, string, (change: Change) => boolean])[] = [
  ['restarts', 'restart', isRestart],
  ['may restart', 'may restart', ({ impact }) => impact === 'may-restart'],
  ['disconnects', 'disconnect', ({ impact }) => impact === 'disconnect'],
  ['moves', 'move', ({ kind }) => kind === 'move'],
  ['is replaced (new host)', 'are replaced (new host)', ({ kind }) => kind === 'replace'],
  ['is created', 'are created', ({ kind }) => kind === 'create'],
  [
    'changes without interrupting anyone',
    'change without interrupting anyone',
    ({ kind, impact }) => kind === 'update' && impact === 'none',
  ],
  ['is deleted', 'are deleted', ({ kind }) => kind === 'delete'],
  [
    'waits for its restart window',
    'wait for their restart windows',
    ({ windows, impact }) => windows !== undefined && impact !== 'none',
  ],
]

/** `2 computes restart, 1 is created, none is deleted.` */
export const verdict = (changes: readonly Change[]): string => {
  const made = changes.filter((change) => !isRefused(change))
  const refused = changes.length - made.length
  const found = [
    ...EFFECTS.map(([one, many, test]) => ({ one, many, count: made.filter(test).length })),
    { one: 'is refused', many: 'are refused', count: refused },
    // Deletions are mentioned even if there are none, unless everything is refused.
  ].filter(({ one, count }) => count > 0 || (one === 'is deleted' && (made.length > 0 || refused === 0)))
  const phrases = found.map(({ one, many, count }, index) => {
    if (count === 0) return `none ${one}`
    return `${index === 0 ? counted(count, 'compute') : group(count)} ${count === 1 ? one : many}`
  })
  return `${phrases.join(', ')}.`
}

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

/** One line for each result, with denials first. */
export const policyLines = (plan: Pick<Plan, 'policies' | 'projectNames'>) => {
  const results = plan.policies?.results ?? []
  const isFleet = new Set(results.map(({ project }) => project)).size > 1
  const title = projectTitle(plan)
  // A message about a whole project already contains the project's name.
  const start = ({ project, branch }: PolicyResult): string =>
    isFleet && project !== undefined && branch !== undefined ? `${title(project)}: ` : ''
  return [...results]
    .sort((a, b) => ORDER.indexOf(a.outcome) - ORDER.indexOf(b.outcome))
    .map((result) => ({ text: start(result) + policyText(result), isDenied: result.outcome === 'denied' }))
}

const ORDER: readonly PolicyResult['outcome'][] = ['denied', 'overridden', 'warned', 'unknown', 'existing']

const policyText = ({ outcome, message, reason, policy, override, overriddenBy: by }: PolicyResult): string => {
  const start = `${message.replace(/\.$/, '')}. ${reason}`
  switch (outcome) {
    case 'denied':
      return `${start} To override, pass --override ${policy}=REASON.`
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
