/** Groups projects that cannot be read for the same reason. */
import { counted, groupBy } from '../../base/index.ts'
import type { Diagnostic } from '../../model/index.ts'

export interface Alike {
  readonly first: Diagnostic
  /** The ids of the other projects with the same error. */
  readonly others: readonly string[]
}

/** Keeps the order of the diagnostics. Only the first of those that are alike is kept as a whole. */
export const alike = (diagnostics: readonly Diagnostic[]): readonly Alike[] =>
  [...groupBy(diagnostics.entries(), ([index, one]) => reasonOf(one) ?? String(index)).values()].flatMap((same) => {
    const [first, ...rest] = same.map(([, diagnostic]) => diagnostic)
    return first === undefined ? [] : [{ first, others: rest.flatMap((one) => projectOf(one) ?? []) }]
  })

const MOST_NAMED = 5

/** `The same error in 3 other projects: a, b, c.` */
export const sameErrorWords = (others: readonly string[]): string => {
  const more = others.length - MOST_NAMED
  return `The same error in ${counted(others.length, 'other project')}: ${others.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}

/** The message without the project and without the id of the request. `undefined` for other kinds of diagnostics. */
const reasonOf = (diagnostic: Diagnostic): string | undefined => {
  const project = projectOf(diagnostic)
  if (project === undefined) return undefined
  const { severity, code, message } = diagnostic
  return [severity, code, message.replaceAll(project, '').replace(/, request [^,)]+/, '')].join(' ')
}

const projectOf = ({ code, message }: Diagnostic): string | undefined =>
  code === 'E_PROJECT_UNREADABLE' ? /^Project `([^`]+)`/.exec(message)?.[1] : undefined
