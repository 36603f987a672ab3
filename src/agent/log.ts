import { counted } from '../base/index.ts'
import type { ProjectView } from '../model/index.ts'
import { agentStatusName } from '../report/index.ts'

/** Writes the agent's log, with one line for each completed step, missed window and change of state. */

export const logLines = (before: ProjectView, after: ProjectView): readonly string[] => {
  const lines: string[] = []
  const { lastApply: applied, missedWindow: missed, message } = after
  if (applied !== undefined && applied.at !== before.lastApply?.at) {
    for (const step of applied.done) lines.push(`${after.id}  done: ${step}`)
  }
  if (missed !== undefined && after.missedWindows > before.missedWindows) {
    lines.push(`${after.id}  window missed: ${missed.opensAt} to ${missed.closesAt}, ${missed.cause}`)
  }
  if (before.state !== after.state || before.reason !== after.reason) {
    const until = after.until === undefined ? '' : ` until ${after.until}`
    lines.push(`${after.id}  ${titleOf(after)}${until}${message === undefined ? '' : `. ${message}`}`)
  }
  return lines
}

const titleOf = (project: ProjectView): string => {
  const count = project.differences.length
  return `${agentStatusName(project)}${count === 0 ? '' : ` (${counted(count, 'difference')})`}`
}
