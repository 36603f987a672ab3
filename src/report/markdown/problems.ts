/** The comment that is written in place of a plan if the manifests have errors. */
import type { Diagnostic } from '../../model/index.ts'
import { severityCounts } from '../words/counts.ts'
import { COMMENT_LIMIT, fitTo, type Limit } from './limit.ts'
import { heading, linked, literal } from './text.ts'
import type { ProblemView } from './view.ts'

export const problemComment = (view: ProblemView, limit: Limit = COMMENT_LIMIT): string => {
  const sorted = view.diagnostics.toSorted((a, b) => rank(a) - rank(b))
  return fitTo(limit, [], sorted.length, (rows) => render(view, sorted, rows))
}

const rank = ({ severity }: Diagnostic): number => (severity === 'error' ? 0 : 1)

const render = (view: ProblemView, diagnostics: readonly Diagnostic[], shown: number): string => {
  const counts = severityCounts(diagnostics)
  const lines = diagnostics.slice(0, shown).map((one) => line(one, view))
  const rest = diagnostics.length - shown
  const parts = [
    view.marker,
    heading(view, counts.length === 0 ? 'the manifests are valid' : `${counts.join(' and ')} in the manifests`),
    ...view.notes.map((note) => `> ${note}`),
    ...(shown === 0 ? [] : [lines.join('\n')]),
    ...(rest === 0 ? [] : [`And ${rest} more. All of them are in ${view.whole}.`]),
    `<sub>Commit ${literal(view.commit)}</sub>`,
  ]
  return `${parts.join('\n\n')}\n`
}

const line = ({ severity, code, message, hint, source }: Diagnostic, { linkTo }: ProblemView): string => {
  const where =
    source === undefined
      ? ''
      : `${linked(literal(`${source.file}:${source.line}:${source.column}`), linkTo?.(source.file, source.line))} `
  return `- ${severity === 'error' ? '❌' : '⚠️'} ${where}**${code}** ${literal(message)}${hint === undefined ? '' : `<br>${literal(hint)}`}`
}
