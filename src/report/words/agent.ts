/** Descriptions of the agent's states and reasons. */
import {
  AGENT_STATES,
  type AgentReason,
  type AgentState,
  type AgentStatus,
  type ProjectView,
} from '../../model/index.ts'
import { releasedParts } from './released.ts'

const AGENT_STATE_WORDS: Readonly<Record<AgentState, string>> = {
  Suspended: 'nothing is applied until the suspension ends',
  Invalid: 'the manifests cannot be used, so nothing is applied',
  Failing: 'the last attempt failed',
  Blocked: 'the agent cannot continue without manual intervention',
  Progressing: 'a step is running',
  Scheduled: 'all remaining changes wait for a restart window',
  OutOfSync: 'the project differs from its manifests, and the agent only reports it',
  Synced: 'the live project matches the manifests',
  Unknown: 'the agent has not read the project since it started',
}

export const AGENT_REASON_WORDS: Readonly<Record<AgentReason, string>> = {
  HistoryRewritten: 'the git history no longer contains the commit that this project was planned from',
  GitStale: 'the repository has not been fetched for 6 hours',
  PlanError: 'the project cannot be planned',
  Refused: 'the service rejected this change',
  Reported: 'manifest changes are reported, not applied (--on-git report)',
  Unrecorded:
    'the agent has not seen the compute match since it was declared, so it changes nothing until you adopt the difference',
  DriftUnconfirmed: 'the live project changed; the next refresh will confirm it',
  Drift: 'someone changed the live project (--on-drift report)',
  DriftUnsafe: 'someone changed the live project, and reverting it could interrupt users',
  Conflict: 'the same drift came back after each revert',
  Policy: 'a policy denies it',
  Protected: 'the branch or compute is protected',
  NotAllowed: 'it is not permitted by --allow',
  Wave: 'a project in an earlier wave is not synced yet',
  RestartLimit: 'it would exceed --max-restarts for all projects together',
  TooManyRestarts: 'it was tried 3 times in 24 hours',
  NoCommonWindow:
    'its restart windows are never open together or not for long enough, or the maintenance window is unknown',
  Unreachable: 'the service does not respond',
  KeyRefused: 'the service rejects the API key',
}

/** Groups of projects, by whether someone must act, in the order in which the page shows them. */
export const AGENT_GROUPS = {
  person: 'Needs attention',
  retrying: 'Retrying',
  waiting: 'Waiting',
  fine: 'Synced',
} as const

export type AgentGroup = keyof typeof AGENT_GROUPS

/** The agent does not repeat an operation that failed: somebody has to run the command that is shown. */
const isStuck = ({ state, command }: AgentStatus & Partial<Pick<ProjectView, 'command'>>): boolean =>
  state === 'Failing' && command !== undefined

export const agentGroup = (project: AgentStatus & Partial<Pick<ProjectView, 'command'>>): AgentGroup => {
  const { state, reason } = project
  if (reason === 'KeyRefused' || isStuck(project)) return 'person'
  switch (state) {
    case 'Invalid':
    case 'Blocked':
      return 'person'
    case 'OutOfSync':
      return reason === 'DriftUnconfirmed' ? 'waiting' : 'person'
    case 'Failing':
      return 'retrying'
    case 'Suspended':
    case 'Progressing':
    case 'Scheduled':
    case 'Unknown':
      return 'waiting'
    case 'Synced':
      return 'fine'
  }
}

/** Sorts tenant-2 before tenant-10. */
const NATURAL = new Intl.Collator('en', { numeric: true })

/** The order in which projects are listed: those that need attention most come first. */
export const byUrgency = (a: ProjectView, b: ProjectView): number =>
  AGENT_STATES.indexOf(a.state) - AGENT_STATES.indexOf(b.state) || NATURAL.compare(a.name ?? a.id, b.name ?? b.id)

/** `Blocked: Conflict`. */
export const agentStatusName = ({ state, reason }: AgentStatus): string =>
  reason === undefined ? state : `${state}: ${reason}`

/** States that say already that the project was not read. */
const NOT_READ: ReadonlySet<AgentStatus['state']> = new Set(['Unknown', 'Failing'])

/** The state of a project, and what qualifies it: `Synced (not fresh, 0123456789ab pending)`. */
export const agentProjectState = (project: ProjectView): string => {
  const { state, isFresh, pending, was } = project
  const notes = [
    ...(was === undefined ? [] : [`was ${agentStatusName(was)}, ${was.since.slice(11, 16)}`]),
    ...(isFresh || NOT_READ.has(state) ? [] : ['not fresh']),
    ...(pending === undefined ? [] : [`${pending.slice(0, 12)} pending`]),
  ]
  return `${agentStatusName(project)}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`
}

/** A description of the reason, or of the state if there is no reason. */
export const agentStatusWords = (project: AgentStatus & Partial<Pick<ProjectView, 'released' | 'command'>>): string => {
  const { state, reason, released = [] } = project
  if (isStuck(project)) return 'an operation failed, and the agent does not repeat it'
  const counts = releasedParts(released).map((part) => `; ${part.title.toLowerCase()}: ${part.counts}`)
  if (state === 'Synced' && counts.length > 0) return `nothing to apply${counts.join('')}`
  return reason === undefined ? AGENT_STATE_WORDS[state] : AGENT_REASON_WORDS[reason]
}
