/** Groups projects that cannot be read or imported, and steps that failed, for the same reason. */
import { counted, groupBy, listed } from '../../base/index.ts'
import { type Diagnostic, EFFECT_HINTS, type Plan, type StepOutcome } from '../../model/index.ts'
import { projectTitle, withNamesOf } from './names.ts'

export interface Alike {
  /** As it was given. */
  readonly first: Diagnostic
  /** The same, with the names of projects. */
  readonly diagnostic: Diagnostic
  /** `The same error in 3 other projects: a, b, c.` Empty if there are no others. */
  readonly same: readonly string[]
}

type Names = Pick<Plan, 'projectNames'>

/** Keeps the order of the diagnostics. Only the first of those that are alike is kept as a whole. */
export const alike = (diagnostics: readonly Diagnostic[], plan: Names = {}): readonly Alike[] => {
  const [titleOf, named] = [projectTitle(plan), withNamesOf(plan)]
  const groups = groupBy(diagnostics.entries(), ([index, one]) => reasonOf(one) ?? String(index))
  return [...groups.values()].flatMap((group) => {
    const [first, ...rest] = group.map(([, diagnostic]) => diagnostic)
    const others = rest.flatMap((one) => projectOf(one) ?? []).map(titleOf)
    const words = `The same error in ${counted(others.length, 'other project')}: ${listed(others, MOST_NAMED)}.`
    return first === undefined ? [] : [{ first, diagnostic: named(first), same: others.length === 0 ? [] : [words] }]
  })
}

/** The problems of each project, without the projects whose problems are all given for an earlier one. */
export const alikeByProject = (
  plan: Names & Pick<Plan, 'leftOut'>,
): readonly { readonly title: string; readonly problems: readonly Alike[] }[] => {
  const { leftOut = [] } = plan
  const titleOf = projectTitle(plan)
  const all = leftOut.flatMap(({ diagnostics }) => diagnostics)
  const groups = new Map(alike(all, plan).map((same) => [same.first, same]))
  return leftOut
    .map(({ project, diagnostics }) => ({
      title: titleOf(project),
      problems: diagnostics.flatMap((one) => groups.get(one) ?? []),
    }))
    .filter(({ problems }) => problems.length > 0)
}

/** The rows of a plan show the effects that warn, so only what to check is left to say, once. */
export const warningsBeside = ({ warnings }: Pick<Plan, 'warnings'>): readonly Diagnostic[] =>
  [...groupBy(warnings.entries(), ([index, { code }]) => (EFFECT_HINTS.has(code) ? code : String(index))).values()]
    .map((same) => same.map(([, warning]) => warning))
    .flatMap((same) => {
      const [first] = same
      if (first === undefined) return []
      const { severity, code } = first
      const hints = EFFECT_HINTS.get(code)?.filter((hint) => same.some((one) => one.hint?.includes(hint)))
      return [hints === undefined ? first : { severity, code, message: hints.join(' ') }]
    })

export const alikeSteps = (outcomes: readonly StepOutcome[]): readonly (readonly StepOutcome[])[] => [
  ...groupBy(outcomes, reasonOfStep).values(),
]

/** Equal for steps that are not done and whose results differ only in their requests. A step that is done is shown itself. */
export const reasonOfStep = ({ step, status, reason, message = '', observation }: StepOutcome): string =>
  status === 'done'
    ? step
    : [status, reason, withoutRequest(message.replaceAll(/\/projects\/[^\s,)]+/g, '')), observation?.observed].join(' ')

/** The message without the id of the request. */
const withoutRequest = (message: string): string => message.replace(/, request [^,)]+/, '')

export const MOST_NAMED = 5

/** The message without the project and without the id of the request. `undefined` for other kinds of diagnostics. */
const reasonOf = (diagnostic: Diagnostic): string | undefined => {
  const project = projectOf(diagnostic)
  if (project === undefined) return undefined
  const { severity, code, message, hint, source } = diagnostic
  const where = code === 'E_BRANCH_UNKNOWN' ? `${source?.file}:${source?.line}` : ''
  return [severity, code, where, withoutRequest(message.replaceAll(project, '')), hint].join(' ')
}

/** Errors whose messages name a project, and which a document for several projects can have in each of them. */
const ABOUT_PROJECTS = new Set(['E_BRANCH_UNKNOWN', 'E_IMPORT', 'E_PROJECT_UNKNOWN', 'E_PROJECT_UNREADABLE'])

const projectOf = ({ code, message }: Diagnostic): string | undefined =>
  ABOUT_PROJECTS.has(code) ? /[Pp]roject `([^`]+)`/.exec(message)?.[1] : undefined
