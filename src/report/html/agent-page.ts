/** The page on which the agent shows its projects. Projects that need attention come first. */
import { counted, encodePath, group, groupBy } from '../../base/index.ts'
import { AGENT_STATES, type AgentView } from '../../model/index.ts'
import { AGENT_GROUPS, type AgentGroup, agentGroup, agentProjectState, byUrgency } from '../words/agent.ts'
import { minuteOf } from '../words/counts.ts'
import { releasedCounts } from '../words/released.ts'
import { type AgentPageProject, details, moment, pageLinks, type Seen, version, why } from './agent-project-page.ts'
import assets from './generated/assets.json' with { type: 'json' }
import {
  chip,
  chipList,
  icon,
  type Look,
  type Markup,
  markup,
  NOTHING,
  noteList,
  STATE_ICONS,
  section,
  trusted,
  verdictHeading,
  when,
} from './markup.ts'
import { type PageFrame, page } from './page.ts'

export interface AgentPage extends Pick<AgentView, 'startedAt' | 'source' | 'accounts'>, Seen {
  readonly projects: readonly AgentPageProject[]
}

const GROUP_LOOKS: Readonly<Record<AgentGroup, Look>> = {
  person: STATE_ICONS.Blocked,
  retrying: STATE_ICONS.Failing,
  waiting: STATE_ICONS.Scheduled,
  fine: STATE_ICONS.Synced,
}

/** Which of the projects the page lists. */
export interface Listing {
  /** A part of a name or an id. */
  readonly q: string
  /** A state. Any other text stands for all states. */
  readonly state: string
  /** Starts at 1. */
  readonly page: number
}

const PROJECTS_PER_PAGE = 100
const ALL: Listing = { q: '', state: '', page: 1 }

export const agentPage = (agent: AgentPage, frame: PageFrame, listing: Listing = ALL): string => {
  const groups = Object.keys(AGENT_GROUPS) as AgentGroup[]
  const byGroup = groupBy(agent.projects.toSorted(byUrgency), agentGroup)
  const grouped = groups
    .map((name) => ({ name, projects: byGroup.get(name) ?? [] }))
    .filter(({ projects }) => projects.length > 0)
  const [worst] = grouped
  const { shown, first, found, pages, current } = listed(
    grouped.flatMap(({ projects }) => projects),
    listing,
  )
  const isShown = new Set(shown)
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
      body: [
        ...grouped.map(({ name, projects }) => {
          const own = projects.filter((one) => isShown.has(one))
          return when(own.length > 0, () => section(name, AGENT_GROUPS[name], projectList(name, own)))
        }),
        when(
          found < agent.projects.length || pages > 1,
          () =>
            markup`<p class="quiet">${found === 0 ? 'No project fits.' : `Projects ${group(first + 1)} to ${group(first + shown.length)} of ${group(found)}.`} ${pageLinks(current, pages, { q: listing.q, state: listing.state })}</p>`,
        ),
      ],
      live: {
        style: assets.agentStyle,
        script: assets.agentScript,
        ...(agent.projects.length > FEW ? { form: filterForm(listing) } : {}),
        places: groups.map((name) => [name, AGENT_GROUPS[name]]),
        footer: `Running since ${minuteOf(agent.startedAt)}. Times are in UTC.`,
      },
    },
  )
}

/** So few projects need no filter. */
const FEW = 20

const filterForm = ({ q, state }: Listing): Markup =>
  markup`<form id="filters" method="get"><p><label for="q">Project</label><input id="q" name="q" value="${q}" placeholder="name or id"></p>
<p><label for="state">State</label><select id="state" name="state"><option value="">all</option>${AGENT_STATES.map((one) => markup`<option${one === state ? trusted(' selected') : NOTHING}>${one}</option>`)}</select></p><p class="buttons"><button>Show</button></p></form>`

/** The projects on the current page of those that fit. */
const listed = (projects: readonly AgentPageProject[], { q, state, page: wanted }: Listing) => {
  const text = q.trim().toLowerCase()
  const isState = AGENT_STATES.some((one) => one === state)
  const fitting = projects.filter(
    (one) => (!isState || one.state === state) && `${one.id}\n${one.name ?? ''}`.toLowerCase().includes(text),
  )
  const pages = Math.max(1, Math.ceil(fitting.length / PROJECTS_PER_PAGE))
  const current = Math.min(pages, wanted)
  const first = (current - 1) * PROJECTS_PER_PAGE
  return { shown: fitting.slice(first, first + PROJECTS_PER_PAGE), first, found: fitting.length, pages, current }
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

const sourceFacts = ({ source, accounts, now }: AgentPage): Markup =>
  markup`<p class="facts">From <code>${source.from}</code>${source.ref === undefined ? '' : markup`, ref <code>${source.ref}</code>`}${
    source.version === undefined ? ', not read yet' : markup`, at ${version(source.version)}`
  }${source.committedAt === undefined ? '' : markup`, committed ${moment(source.committedAt, { now })}`}${source.fetchedAt === undefined ? '' : markup`, fetched ${moment(source.fetchedAt, { now })}`}.</p>
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

const projectList = (name: AgentGroup, projects: readonly AgentPageProject[]): Markup => {
  const isBrief = ({ released }: AgentPageProject): boolean => name === 'fine' && releasedCounts(released) === ''
  const [rows, items] = [projects.filter((one) => !isBrief(one)), projects.filter(isBrief)]
  return markup`${when(rows.length > 0, () => markup`<ol class="agent">${rows.map(projectRow)}</ol>`)}${when(items.length > 0, () => markup`<ul class="fine">${items.map(syncedItem)}</ul>`)}`
}

const syncedItem = (project: AgentPageProject): Markup => {
  const { version: synced, since, lastApply: last } = project
  const applied =
    last &&
    markup`<span class="quiet">applied ${counted(last.done.length, 'step')} ${moment(last.at, project)},</span> `
  const state = synced && markup`<span class="quiet">at ${version(synced)} since ${moment(since, project)}</span>`
  return markup`<li>${icon('check')}<span>${projectName(project)} ${applied ?? ''}${state ?? ''}</span></li>
`
}

const projectName = ({ id, name }: AgentPageProject): Markup =>
  markup`<a id="p-${id}" href="/projects/${encodePath(id).replaceAll('/', '%2F')}">${name ?? id}</a>${name === undefined ? NOTHING : markup` <code>${id}</code>`}`

const projectRow = (project: AgentPageProject): Markup => {
  const look = STATE_ICONS[project.state]
  return markup`<li class="row"><div><h3>${projectName(project)}</h3>
<p>${chip(look, agentProjectState(project))}</p></div>
<div class="what"><p>${why(project)}</p>
${details(project)}</div></li>
`
}
