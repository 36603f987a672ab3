/** Derives the events of a project, an account and the repository from the agent's view. */
import {
  AGENT_STATES,
  type AgentReason,
  type AgentState,
  type AgentStatus,
  type AgentView,
  type DifferenceView,
  type ProjectView,
} from '../../model/index.ts'
import { agentStatusWords } from '../../report/index.ts'
import { ACCOUNT_REASONS, eventOf, nextRaise, observeConditions, REPOSITORY_REASONS } from './conditions.ts'
import { type AgentEvent, type Kept, keptOf } from './kept.ts'

/** The states in which the displayed differences are out of date or missing. */
const HIDING_STATES: readonly AgentState[] = ['Suspended', 'Invalid', 'Failing', 'Unknown']
const HIDING_REASONS: readonly AgentReason[] = ['PlanError', 'HistoryRewritten', 'GitStale']

export const observeProject = (project: ProjectView, json: unknown, now: number, isRound: boolean): Kept => {
  const before = { ...keptOf(json), isRemoved: false }
  const statuses = [project, ...project.differences].filter(
    ({ reason }) => reason === undefined || ![...ACCOUNT_REASONS, ...REPOSITORY_REASONS].includes(reason),
  )
  const observed = observeConditions(
    before,
    {
      subject: project.id,
      statuses: statuses.map(({ state, reason }) => ({ state, reason })),
      isHidden: (condition) => hides(project, condition),
      about: (condition) => aboutCondition(project, condition),
    },
    now,
    isRound,
  )
  const isSuspended = project.state === 'Suspended'
  const lastApply = project.lastApply?.at
  const missedWindow = project.missedWindow?.opensAt
  return {
    ...observed,
    isSuspended,
    lastApply: lastApply ?? before.lastApply,
    missedWindow: missedWindow ?? before.missedWindow,
    pending: [
      ...observed.pending,
      ...(lastApply === undefined || lastApply === before.lastApply
        ? []
        : [eventOf(project.id, 'applied', now, { ...identity(project), ...project.lastApply })]),
      ...(missedWindow === undefined || missedWindow === before.missedWindow
        ? []
        : [eventOf(project.id, 'window.missed', now, { ...identity(project), ...project.missedWindow })]),
      ...(isSuspended === before.isSuspended ? [] : [suspension(project, isSuspended, now)]),
    ],
  }
}

/** Whether an event must be raised between rounds, because a condition is due or a suspension started or ended. */
export const isOverdue = (project: ProjectView, json: unknown, now: number): boolean => {
  const kept = keptOf(json)
  return (nextRaise(kept) ?? Number.POSITIVE_INFINITY) <= now || kept.isSuspended !== (project.state === 'Suspended')
}

export const removeProject = (project: string, json: unknown, now: number): Kept => {
  const kept = keptOf(json)
  return {
    ...kept,
    isRemoved: true,
    pending: [...kept.pending, eventOf(project, 'removed', now, { project: { id: project } })],
  }
}

export const accountSubject = (name: string): string => `account/${name}`
export const REPOSITORY_SUBJECT = 'repository/manifests'
/** The subject that older data folders use for the repository. A removed project may have had this id as well. */
const OLD_REPOSITORY_SUBJECT = 'repository'

/** The events in a data folder by subject, with the repository under its current subject. */
export const storedSubjects = (events: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> => {
  const { [OLD_REPOSITORY_SUBJECT]: old, ...others } = events
  const isProject = old === undefined || REPOSITORY_SUBJECT in events || keptOf(old).isRemoved
  return isProject ? events : { ...others, [REPOSITORY_SUBJECT]: old }
}

/** Whether the subject is a project. Only the other subjects contain a slash. */
export const isProject = (subject: string): boolean => !subject.includes('/')

/** @param isRound whether a round of one of the account's projects has ended. */
export const observeAccount = (
  account: string,
  { projects }: AgentView,
  json: unknown,
  now: number,
  isRound: boolean,
): Kept => {
  const own = projects.filter((project) => project.account === account)
  const affected = (reason: AgentReason | undefined) => own.filter((project) => project.reason === reason)
  const statuses = ACCOUNT_REASONS.filter((reason) => affected(reason).length > 0).map(
    (reason) => ({ state: 'Failing', reason }) as const,
  )
  const about = (condition: AgentStatus) => {
    const found = affected(condition.reason)
    return { account, projects: found.length, message: found[0]?.message ?? agentStatusWords(condition) }
  }
  return observeConditions(keptOf(json), { subject: accountSubject(account), statuses, about }, now, isRound)
}

/** @param isRound whether a fetch has completed since the last check. */
export const observeRepository = (
  { source, projects }: AgentView,
  json: unknown,
  now: number,
  isRound: boolean,
): Kept => {
  const isStale = projects.some(({ reason }) => reason === 'GitStale')
  const statuses: readonly AgentStatus[] = [
    ...(source.errorState === 'Failing' ? [{ state: 'Failing', reason: 'Unreachable' } as const] : []),
    ...(source.errorState === 'Invalid' ? [{ state: 'Invalid' } as const] : []),
    ...(isStale ? [{ state: 'Blocked', reason: 'GitStale' } as const] : []),
  ]
  const about = (condition: AgentStatus) => ({
    repository: source.from,
    message: source.error ?? agentStatusWords(condition),
    fetchedAt: source.fetchedAt,
  })
  return observeConditions(keptOf(json), { subject: REPOSITORY_SUBJECT, statuses, about }, now, isRound)
}

const hides = ({ state, reason }: AgentStatus, condition: AgentStatus): boolean =>
  state === 'Unknown' ||
  ((HIDING_STATES.includes(state) || (reason !== undefined && HIDING_REASONS.includes(reason))) &&
    AGENT_STATES.indexOf(state) <= AGENT_STATES.indexOf(condition.state))

const identity = ({ id, name, account }: ProjectView) => ({ project: { id, name }, account })

const MOST_NAMED = 20

const aboutCondition = (project: ProjectView, condition: AgentStatus): Readonly<Record<string, unknown>> => {
  const differences = project.differences.filter((one) => isOf(condition, one))
  const isWhole = isOf(condition, project)
  return {
    ...identity(project),
    message: (isWhole ? project.message : undefined) ?? agentStatusWords(condition),
    version: project.version,
    command: isWhole ? project.command : undefined,
    differences: differences.slice(0, MOST_NAMED).map(differenceData),
    moreDifferences: differences.length > MOST_NAMED ? differences.length - MOST_NAMED : undefined,
  }
}

const isOf = (condition: AgentStatus, { state, reason }: AgentStatus): boolean =>
  condition.state === state && condition.reason === reason

/** The data about a difference in an event. It has no values, because live settings may be sensitive. */
const differenceData = ({ branch, compute, kind, path, impact, origin, declaredAt }: DifferenceView) => ({
  branch,
  compute,
  kind,
  path,
  impact,
  origin,
  declaredAt,
})

const suspension = (project: ProjectView, isSuspended: boolean, now: number): AgentEvent =>
  eventOf(project.id, isSuspended ? 'suspended' : 'resumed', now, {
    ...identity(project),
    message: isSuspended ? project.message : undefined,
    until: isSuspended ? project.until : undefined,
  })
