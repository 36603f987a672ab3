/** The page on which the agent shows its projects. Projects that need attention come first. */
import { counted, encodePath, group, groupBy } from '../../base/index.ts'
import { type AgentView, type DifferenceView, IMPACT_NAMES, type ProjectView } from '../../model/index.ts'
import {
  AGENT_GROUPS,
  type AgentGroup,
  agentGroup,
  agentStatusName,
  agentStatusWords,
  byUrgency,
} from '../words/agent.ts'
import { capitalised, minuteOf } from '../words/counts.ts'
import { differenceEffects } from '../words/effects.ts'
import { IMPACT_MARKS } from '../words/impacts.ts'
import { releasedCounts, releasedLines } from '../words/released.ts'
import assets from './generated/assets.json' with { type: 'json' }
import {
  andMore,
  chip,
  chipList,
  icon,
  kindLabel,
  type Look,
  type Markup,
  markup,
  NOTHING,
  noteList,
  STATE_ICONS,
  section,
  verdictHeading,
  when,
} from './markup.ts'
import { type PageFrame, page } from './page.ts'

export interface AgentPage extends Pick<AgentView, 'startedAt' | 'source' | 'accounts'> {
  readonly projects: readonly AgentPageProject[]
}

interface AgentPageProject extends ProjectView {
  /** `windowOpensAt` in the time zone of the window, such as `Sun 2026-11-22 02:00`. */
  readonly windowOpensLocally?: string | undefined
}

const GROUP_LOOKS: Readonly<Record<AgentGroup, Look>> = {
  person: STATE_ICONS.Blocked,
  retrying: STATE_ICONS.Failing,
  waiting: STATE_ICONS.Scheduled,
  fine: STATE_ICONS.Synced,
}

/** How many differences and removals are listed. The page of the project shows all of them. */
const MOST_LISTED = 30

export const agentPage = (agent: AgentPage, frame: PageFrame): string => {
  const groups = Object.keys(AGENT_GROUPS) as AgentGroup[]
  const byGroup = groupBy(agent.projects.toSorted(byUrgency), agentGroup)
  const grouped = groups
    .map((name) => ({ name, projects: byGroup.get(name) ?? [] }))
    .filter(({ projects }) => projects.length > 0)
  const [worst] = grouped
  const verdict = worst === undefined ? 'No project is declared' : verdictOf(worst.name, worst.projects.length)
  const look = worst === undefined ? STATE_ICONS.Unknown : GROUP_LOOKS[worst.name]
  return page(
    { ...frame, home: '/' },
    {
      title: `${verdict} · espalier agent`,
      command: 'agent',
      seen: markup`<span id="live" role="status">Reload the page to see changes</span>`,
      head: markup`${verdictHeading(look, verdict)}
${sourceFacts(agent)}${chipList(grouped.map(({ name, projects }) => chip(GROUP_LOOKS[name], `${group(projects.length)} ${name === 'person' ? VERBS.person[projects.length === 1 ? 0 : 1] : AGENT_GROUPS[name].toLowerCase()}`)))}${noteList(notes(agent))}`,
      body: grouped.map(({ name, projects }) => section(name, AGENT_GROUPS[name], projectList(name, projects))),
      live: {
        style: assets.agentStyle,
        script: assets.agentScript,
        places: groups.map((name) => [name, AGENT_GROUPS[name]]),
        footer: `Running since ${minuteOf(agent.startedAt)}. Times are in UTC.`,
      },
    },
  )
}

const VERBS: Readonly<Record<AgentGroup, readonly [one: string, many: string]>> = {
  person: ['needs attention', 'need attention'],
  retrying: ['is being retried', 'are being retried'],
  waiting: ['is waiting', 'are waiting'],
  fine: ['is synced', 'are synced'],
}

/** @param count the number of projects in this group, which is the worst group that has any projects. */
const verdictOf = (name: AgentGroup, count: number): string => {
  const [one, many] = VERBS[name]
  if (name === 'fine') return count === 1 ? `The project ${one}` : `All ${group(count)} projects ${many}`
  return `${counted(count, 'project')} ${count === 1 ? one : many}`
}

const sourceFacts = ({ source, accounts }: AgentPage): Markup =>
  markup`<p class="facts">From <code>${source.from}</code>${source.ref === undefined ? '' : markup`, ref <code>${source.ref}</code>`}${
    source.version === undefined ? ', not read yet' : markup`, at ${version(source.version)}`
  }${source.committedAt === undefined ? '' : markup`, committed ${moment(source.committedAt)}`}${source.fetchedAt === undefined ? '' : markup`, fetched ${moment(source.fetchedAt)}`}.</p>
${accounts.map(
  ({ name, projects, intervalSeconds, isStretched }) =>
    markup`<p class="projects">Account <b>${name}</b>: ${counted(projects, 'project')}, refreshed every ${interval(intervalSeconds)}${isStretched ? ': a shorter interval would exceed its share of the rate limit' : ''}.</p>`,
)}`

const notes = ({ source: { error, errorState } }: AgentPage): readonly string[] =>
  error === undefined
    ? []
    : [`${errorState === 'Invalid' ? 'The manifests have an error' : 'The manifests could not be read'}: ${error}`]

const interval = (seconds: number): string =>
  seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 6) / 10} min`

/** Shortens a commit id. Other version labels are already short. */
const version = (text: string): Markup => markup`<code title="${text}">${text.slice(0, 12)}</code>`

const moment = (iso: string): Markup => markup`<time datetime="${iso}">${minuteOf(iso)}</time>`

const projectList = (name: AgentGroup, projects: readonly AgentPageProject[]): Markup => {
  const isBrief = ({ released }: AgentPageProject): boolean => name === 'fine' && releasedCounts(released) === ''
  const [rows, items] = [projects.filter((one) => !isBrief(one)), projects.filter(isBrief)]
  return markup`${when(rows.length > 0, () => markup`<ol class="agent">${rows.map(projectRow)}</ol>`)}${when(items.length > 0, () => markup`<ul class="fine">${items.map(syncedItem)}</ul>`)}`
}

const syncedItem = (project: AgentPageProject): Markup => {
  const { version: synced, since, lastApply: last } = project
  const applied =
    last && markup`<span class="quiet">applied ${counted(last.done.length, 'step')} ${moment(last.at)},</span> `
  const state = synced && markup`<span class="quiet">at ${version(synced)} since ${moment(since)}</span>`
  return markup`<li>${icon('check')}<span>${projectName(project)} ${applied ?? ''}${state ?? ''}</span></li>
`
}

const projectName = ({ id, name }: AgentPageProject): Markup =>
  markup`<a id="p-${id}" href="/projects/${encodePath(id).replaceAll('/', '%2F')}">${name ?? id}</a>${name === undefined ? NOTHING : markup` <code>${id}</code>`}`

const projectRow = (project: AgentPageProject): Markup => {
  const look = STATE_ICONS[project.state]
  return markup`<li class="row"><div><h3>${projectName(project)}</h3>
<p>${chip(look, agentStatusName(project))}</p></div>
<div class="what"><p>${why(project)}</p>
<dl>${facts(project).map(([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${project.command === undefined ? NOTHING : markup`<p class="paste"><code class="command" id="c-${project.id}">${project.command}</code></p>`}
${releasedList(project)}${differences(project)}</div></li>
`
}

/** The message of a suspended project is the reason that the user gave. */
const why = ({ message, ...status }: AgentPageProject): string => {
  const words = `${capitalised(agentStatusWords(status))}.`
  if (message === undefined) return words
  return status.state === 'Suspended' ? `${words} Reason: ${message}` : message
}

const facts = (project: AgentPageProject): readonly (readonly [name: string, value: Markup])[] => {
  const { state, since, until, windowOpensAt, scheduledSteps, missedWindow, version: planned, lastApply } = project
  const there = project.windowOpensLocally === undefined ? '' : ` (${project.windowOpensLocally} in its time zone)`
  const found: [name: string, value: Markup][] = [['since', moment(since)]]
  if (until !== undefined && until !== windowOpensAt) {
    found.push([state === 'Failing' ? 'next attempt' : 'until', moment(until)])
  }
  if (windowOpensAt !== undefined) {
    found.push(['window opens', markup`${moment(windowOpensAt)}${there} for ${counted(scheduledSteps, 'step')}`])
  }
  if (missedWindow !== undefined) {
    const { opensAt, closesAt, cause } = missedWindow
    found.push(['window missed', markup`${moment(opensAt)} to ${moment(closesAt)} (${cause.replaceAll('-', ' ')})`])
  }
  if (planned !== undefined) found.push(['planned for', version(planned)])
  if (project.refreshedAt !== undefined) found.push(['refreshed', moment(project.refreshedAt)])
  if (lastApply !== undefined) {
    const { at, done, interruptions } = lastApply
    found.push([
      'last applied',
      markup`${moment(at)}: ${counted(done.length, 'step')}, ${counted(interruptions, 'interruption')}`,
    ])
  }
  return found
}

const releasedList = ({ released }: AgentPageProject): Markup => {
  const lines = releasedLines(released)
  return when(
    lines.length > 0,
    () => markup`<p>No longer managed:</p>
<ul>${lines.slice(0, MOST_LISTED).map((line) => markup`<li>${line}</li>`)}</ul>${andMore(lines.length, MOST_LISTED)}`,
  )
}

const differences = ({ id, differences }: AgentPageProject): Markup => {
  if (differences.length === 0) return NOTHING
  const more = differences.length - MOST_LISTED
  return markup`<details id="d-${id}" class="more"><summary>${counted(differences.length, 'difference')}</summary><div class="scroll" role="region" tabindex="0" aria-label="Differences of ${id}"><table>
<thead><tr><th scope="col">what</th><th scope="col">live</th><th scope="col">declared</th><th scope="col">impact</th><th scope="col">origin</th><th scope="col">state</th></tr></thead><tbody>${differences.slice(0, MOST_LISTED).map((one) => differenceRow(one, differences))}</tbody></table></div>${when(
    more > 0,
    () => markup`<p class="quiet">and ${group(more)} more on the project's page</p>`,
  )}</details>`
}

const differenceRow = (one: DifferenceView, all: readonly DifferenceView[]): Markup =>
  markup`<tr><th scope="row">${kindLabel(one.kind)} ${one.compute} on ${one.branch}${one.path === undefined ? '' : `: ${one.path}`}${one.declaredAt === undefined ? NOTHING : markup` <code>${one.declaredAt}</code>`}</th><td>${value(one.live)}</td><td>${value(one.want)}</td><td>${chip(IMPACT_MARKS[one.impact], IMPACT_NAMES[one.impact])}${differenceEffects(one, all).map((text) => markup`<p class="quiet">${text}</p>`)}</td><td>${one.origin}</td><td>${agentStatusName(one)}</td></tr>
`

const value = (text: string | null): Markup =>
  text === null ? markup`<span class="quiet">none</span>` : markup`<code>${text}</code>`
