/** The comment about a run that failed before it had a plan or an outcome. */
import { COMMENT_LIMIT, fitTo, type Limit } from './limit.ts'
import { heading, literal } from './text.ts'
import type { FailureView } from './view.ts'

/** If the comment is too long, the message is truncated. */
export const failureComment = (view: FailureView, limit: Limit = COMMENT_LIMIT): string => {
  const { message } = view
  return fitTo(limit, [], message.length, (length) => render(view, message.slice(0, length)))
}

const render = (view: FailureView, message: string): string => {
  const { what, reason, code, hint, isOutOfDate, commit, run } = view
  const lines = [...message.split('\n'), ...(hint === undefined ? [] : [hint])].map((line) => line.trim())
  const parts = [
    view.marker,
    heading(view, `the ${what} failed (${reason})`),
    ...(isOutOfDate
      ? [
          `> [!CAUTION]\n> The previous contents of this comment are out of date. The current state of the live project is unknown.`,
        ]
      : []),
    `**${code}** ${lines
      .filter((line) => line !== '')
      .map(literal)
      .join('<br>')}`,
    `<sub>${commit === '' ? '' : `Commit ${literal(commit)}. `}${run === undefined ? '' : `See [the log](${run}) for details.`}</sub>`,
  ]
  return `${parts.join('\n\n')}\n`
}
