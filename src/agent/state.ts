/** Which of several states a project is in, and the exit code for it. */
import { AGENT_STATES, type AgentState, type AgentStatus } from '../model/index.ts'

/** @param found statuses of a refreshed project; none means in sync. */
export const worstOf = (found: readonly AgentStatus[]): AgentStatus =>
  found.reduce<AgentStatus>(
    (worst, one) => (AGENT_STATES.indexOf(one.state) < AGENT_STATES.indexOf(worst.state) ? one : worst),
    {
      state: 'Synced',
    },
  )

/** The exit code of `agent status`. */
export const exitCodeOf = (state: AgentState): 0 | 2 | 3 | 5 => {
  switch (state) {
    case 'Synced':
      return 0
    case 'Scheduled':
      return 5
    case 'OutOfSync':
    case 'Progressing':
    case 'Unknown':
      return 2
    default:
      return 3
  }
}
