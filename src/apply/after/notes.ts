/** What a user should know or do after a run: lost primaries, pins that are out of date, and overridden policies. */
import { defined, groupBy, listed } from '../../base/index.ts'
import {
  type ApplyEvent,
  isUnpredicted,
  observedWords,
  type Plan,
  placeWords,
  type StepOutcome,
  stepTitle,
} from '../../model/index.ts'
import type { LostPrimaries, LostPrimary } from '../lost-primaries.ts'

type Outcomes = ReadonlyMap<string, StepOutcome>

/** Maps the ids of replaced computes to the ids of their successors. */
export const successors = (plan: Plan, outcomes: Outcomes): Readonly<Record<string, string>> => {
  const replaced = new Map(plan.changes.filter(({ kind }) => kind === 'replace').map((change) => [change.id, change]))
  return Object.fromEntries(
    plan.steps.flatMap((step) => {
      const old = replaced.get(step.change)?.compute.id
      const made = step.kind === 'create' ? outcomes.get(step.id)?.computeId : undefined
      return old === undefined || made === undefined ? [] : [[old, made]]
    }),
  )
}

/** One note for each step that interrupted users, although the prediction was that it interrupts no one. */
export const unpredictedNotes = ({ steps, changes }: Plan, outcomes: Outcomes): readonly string[] => {
  const titles = new Map(changes.map((change) => [change.id, change]))
  return steps.flatMap((step) => {
    const observation = outcomes.get(step.id)?.observation
    if (observation === undefined || !isUnpredicted(observation)) return []
    return [`Not predicted: ${stepTitle(step, titles)} in project \`${step.project}\` ${observedWords(observation)}.`]
  })
}

/** One note for each branch that the run leaves without its declared primary. */
export const lossNotes = (plan: Plan, primaries: LostPrimaries, outcomes: Outcomes): readonly string[] =>
  primaries.in(outcomes).map((lost) => {
    const { frees, fills, isLossUncertain, isGainUncertain } = lost
    const { branch, project, kind } = fills
    const has = isLossUncertain || isGainUncertain ? 'may have' : 'has'
    const loss = `${isLossUncertain ? 'may have been' : 'was'} ${frees.kind === 'delete' ? 'deleted' : 'moved away'}`
    const gain = `${isGainUncertain ? 'may not have been' : 'was not'} ${kind === 'create' ? 'created' : 'moved to it'}`
    const next = kind === 'create' ? 'its new primary' : fills.compute.id
    // If the compute that was to be replaced is gone, its pin has to be removed first, which another note says.
    const remedy = isDeleted(plan, fills.change, outcomes) ? '' : remedyOf(lost, outcomes)
    return `Branch \`${branch.name}\` of project \`${project}\` ${has} no primary now: ${frees.compute.id} ${loss}, and ${next} ${gain}.${remedy}`
  })

const remedyOf = ({ fills }: LostPrimary, outcomes: Outcomes): string => {
  const consents = fills.consents.filter((consent) => consent !== 'restart')
  const allow = consents.length === 0 ? '' : ` --allow ${consents.join(',')}`
  const first = outcomes.get(fills.id)?.status === 'failed' ? 'fix the cause of the failure and ' : ''
  return ` To give it one, ${first}run \`espalier apply --project ${fills.project}${allow}\`.`
}

/** Whether a change has deleted its compute. */
const isDeleted = ({ steps }: Plan, id: string, outcomes: Outcomes): boolean =>
  steps.some(
    ({ id: step, change, kind }) => change === id && kind === 'delete' && outcomes.get(step)?.status === 'done',
  )

/** Notes about the pins that a user must edit after a replacement. */
export const pinNotes = (
  plan: Plan,
  outcomes: Outcomes,
  aliases: Readonly<Record<string, string>>,
): readonly string[] =>
  plan.changes.flatMap(({ id, kind, compute, source }) => {
    const old = compute.id
    if (kind !== 'replace' || old === undefined || !isDeleted(plan, id, outcomes)) return []
    const made = aliases[old]
    const where = source === undefined ? '' : placeWords(source)
    return made === undefined
      ? [
          `${old} is deleted, but its successor was not created: remove its pin${where} and run \`espalier apply\` again.`,
        ]
      : [`${old} was replaced: change its pin${where} to \`id: ${made}\`, or remove the pin.`]
  })

// Lists the policies that were overridden, for the journal and the outcome.

type Overridden = Omit<Extract<ApplyEvent, { readonly type: 'policy-overridden' }>, 'type' | 'time'>

/** One entry for each policy and project. */
export const overriddenOf = ({ policies }: Pick<Plan, 'policies'>): readonly Overridden[] => {
  const overridden = (policies?.results ?? []).filter(({ override }) => override !== undefined)
  return [...groupBy(overridden, ({ policy, project }) => `${policy} ${project}`).values()].flatMap((all) =>
    all.slice(0, 1).map(({ policy, project, override: reason = '', overriddenBy: by = 'unknown' }) => {
      return { policy, ...defined({ project }), reason, by, violations: all.map(({ message }) => message) }
    }),
  )
}

export const overrideNotes = (plan: Pick<Plan, 'policies'>): readonly string[] =>
  overriddenOf(plan).map(
    ({ policy, project, by, reason }) =>
      `${by} overrode policy \`${policy}\`${project === undefined ? '' : ` in ${project}`}: ${reason}`,
  )

/** Counts the steps that --now ran outside their windows. In a fleet, also names the projects. */
export const windowNotes = (
  { steps, projects, projectNames = {} }: Plan,
  overridden: ReadonlySet<string>,
): readonly string[] => {
  if (overridden.size === 0) return []
  const own = new Set(steps.flatMap(({ id, project }) => (overridden.has(id) ? [project] : [])))
  const names = [...own].map((project) => projectNames[project] ?? project)
  const where = projects.length > 1 ? ` in ${listed(names, MOST_NAMED)}` : ''
  return overridden.size === 1
    ? [`--now: 1 step ran outside its restart window${where}.`]
    : [`--now: ${overridden.size} steps ran outside their restart windows${where}.`]
}

const MOST_NAMED = 8
