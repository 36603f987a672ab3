/** Finds the computes that were replaced, and the pins that are out of date because of that. */
import { defined, groupBy } from '../../base/index.ts'
import type { ApplyEvent, Plan, StepOutcome } from '../../model/index.ts'

/** Maps the ids of replaced computes to the ids of their successors. */
export const successors = (
  plan: Plan,
  outcomes: ReadonlyMap<string, StepOutcome>,
): Readonly<Record<string, string>> => {
  const replaced = new Map(plan.changes.filter(({ kind }) => kind === 'replace').map((change) => [change.id, change]))
  return Object.fromEntries(
    plan.steps.flatMap((step) => {
      const old = replaced.get(step.change)?.compute.id
      const made = step.kind === 'create' ? outcomes.get(step.id)?.computeId : undefined
      return old === undefined || made === undefined ? [] : [[old, made]]
    }),
  )
}

/** Notes about the pins that a user must edit after a replacement. */
export const pinNotes = (
  plan: Plan,
  outcomes: ReadonlyMap<string, StepOutcome>,
  aliases: Readonly<Record<string, string>>,
): readonly string[] =>
  plan.changes.flatMap(({ id, kind, compute, source }) => {
    const old = compute.id
    const gone = plan.steps.some(
      (step) => step.change === id && step.kind === 'delete' && outcomes.get(step.id)?.status === 'done',
    )
    if (kind !== 'replace' || old === undefined || !gone) return []
    const made = aliases[old]
    const where = source === undefined ? '' : ` at ${source.file}:${source.line}`
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
  return [...groupBy(overridden, ({ policy, project }) => `${policy} ${project}`).values()].flatMap((all) => {
    const [first] = all
    if (first?.override === undefined) return []
    const { policy, project, override: reason, overriddenBy: by = 'unknown' } = first
    return [{ policy, ...defined({ project }), reason, by, violations: all.map(({ message }) => message) }]
  })
}

export const overrideNotes = (plan: Pick<Plan, 'policies'>): readonly string[] =>
  overriddenOf(plan).map(
    ({ policy, project, by, reason }) =>
      `${by} overrode policy \`${policy}\`${project === undefined ? '' : ` in ${project}`}: ${reason}`,
  )
