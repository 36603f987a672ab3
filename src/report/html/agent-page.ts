/** The page on which the agent shows its projects. Projects that need attention come first. */
import { counted, encodePath, group, groupBy } from '../../base/index.ts'
import {
  AGENT_STATES,
  type AgentView,
  type DifferenceView,
  IMPACT_NAMES,
  type Plan,
  type ProjectView,
  type SourceView,
} from '../../model/index.ts'
import {
  AGENT_GROUPS,
  type AgentGroup,
  agentGroup,
  agentProjectState,
  agentStatusName,
  agentStatusWords,
  byUrgency,
} from '../words/agent.ts'
import { ageOf, capitalised, minuteOf } from '../words/counts.ts'
import { differenceEffects } from '../words/effects.ts'
import { IMPACT_MARKS } from '../words/impacts.ts'
import { releasedCounts, releasedLines } from '../words/released.ts'
import assets from './generated/assets.json' with { type: 'json' }
import {
  andMore,
  chip,
  chipList,
  icon,
  joined,
  kindLabel,
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
import { planSections } from './plan-page.ts'

export interface AgentPage extends Pick<AgentView, 'startedAt' | 'source' | 'accounts'>, Seen {
  readonly projects: readonly AgentPageProject[]
}

interface Seen {
  /** When the page is made, in milliseconds since the epoch. If absent, no time is shown as relative to it. */
  readonly now?: number | undefined
}

interface AgentPageProject extends ProjectView, Seen {
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

const pageLinks = (current: number, pages: number, others: Readonly<Record<string, string>> = {}): Markup => {
  const link = (to: number, words: string): Markup =>
    markup`<a href="?${new URLSearchParams({ ...others, page: String(to) }).toString()}">${words}</a>`
  const found = [
    ...(current > 1 ? [link(current - 1, 'Previous')] : []),
    ...(current < pages ? [link(current + 1, 'Next')] : []),
  ]
  return when(pages > 1, () => markup`Page ${current} of ${pages}. ${joined(found, ' ')}`)
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

/** Shortens a commit id. Other version labels are already short. */
const version = (text: string): Markup => markup`<code title="${text}">${text.slice(0, 12)}</code>`

const moment = (iso: string, { now }: Seen): Markup =>
  markup`<time datetime="${iso}">${minuteOf(iso)}</time>${now === undefined ? '' : ` (${relative(iso, now)})`}`

const relative = (iso: string, now: number): string =>
  Date.parse(iso) > now ? `in ${ageOf(new Date(now).toISOString(), Date.parse(iso))}` : `${ageOf(iso, now)} ago`

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
${factList(project)}
${command(project)}
${releasedList(project)}${differences(project)}</div></li>
`
}

const factList = (project: AgentPageProject): Markup =>
  markup`<dl>${facts(project).map(([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`

const command = ({ id, command }: AgentPageProject): Markup =>
  command === undefined ? NOTHING : markup`<p class="paste"><code class="command" id="c-${id}">${command}</code></p>`

/** The message of a suspended project is the reason that the user gave. */
const why = ({ message, ...status }: AgentPageProject): string => {
  const words = `${capitalised(agentStatusWords(status))}.`
  if (message === undefined) return words
  return status.state === 'Suspended' ? `${words} Reason: ${message}` : message
}

const facts = (project: AgentPageProject): readonly (readonly [name: string, value: Markup])[] => {
  const { state, since, until, windowOpensAt, scheduledSteps, missedWindow, version: planned, lastApply } = project
  const there = project.windowOpensLocally === undefined ? '' : ` (${project.windowOpensLocally} in its time zone)`
  const found: [name: string, value: Markup][] = [['since', moment(since, project)]]
  if (until !== undefined && until !== windowOpensAt) {
    found.push([state === 'Failing' ? 'next attempt' : 'until', moment(until, project)])
  }
  if (windowOpensAt !== undefined) {
    found.push([
      'window opens',
      markup`${moment(windowOpensAt, project)}${there} for ${counted(scheduledSteps, 'step')}`,
    ])
  }
  if (missedWindow !== undefined) {
    const { opensAt, closesAt, cause } = missedWindow
    found.push([
      'window missed',
      markup`${moment(opensAt, {})} to ${moment(closesAt, {})} (${cause.replaceAll('-', ' ')})`,
    ])
  }
  if (planned !== undefined) found.push(['planned for', version(planned)])
  if (project.refreshedAt !== undefined) found.push(['refreshed', moment(project.refreshedAt, project)])
  if (lastApply !== undefined) {
    const { at, done, interruptions } = lastApply
    found.push([
      'last applied',
      markup`${moment(at, project)}: ${counted(done.length, 'step')}, ${counted(interruptions, 'interruption')}`,
    ])
  }
  return found
}

/** A page of a project's history, newest first. */
export interface PastApplies {
  readonly applies: readonly {
    readonly at: string
    readonly version: string
    readonly done: readonly string[]
    readonly interruptions: number
  }[]
  /** Starts at 1. */
  readonly page: number
  readonly pages: number
}

interface ProjectPage {
  readonly source: SourceView
  readonly project: AgentPageProject
  /** Absent before the project is planned. */
  readonly plan: Plan | undefined
  readonly history: PastApplies
}

/** The page of one project: its state, its differences and the next command, then the last plan, then what was applied. */
export const agentProjectPage = ({ source, project, plan, history }: ProjectPage, frame: PageFrame): string => {
  const { id, name, released, refreshedAt } = project
  const title = `${name ?? id}: ${agentStatusName(project)}`
  return page(frame, {
    title: `${title} · espalier agent`,
    command: 'agent',
    seen: markup`<span id="live" role="status">Reload the page to see changes</span>`,
    head: markup`${verdictHeading(STATE_ICONS[project.state], title)}
<p class="facts">${why(project)}</p><p class="projects">Project <b>${id}</b>${commitOf(source, project)}</p>`,
    body: [
      section(
        'state',
        'State',
        markup`<div class="agent">${[factList(project), command(project), releasedList(project), differences(project)]}</div>`,
      ),
      when(
        plan !== undefined,
        () =>
          markup`<p class="quiet">What follows is the last plan${refreshedAt === undefined ? '' : markup`, of ${moment(refreshedAt, project)}`}. It includes differences that the agent only reports.</p>`,
      ),
      plan === undefined ? NOTHING : planSections(plan, { released }),
      section('history', 'History', historyList(source, history, project)),
    ],
    live: {
      style: assets.agentStyle,
      script: assets.agentScript,
      footer: 'Times are in UTC.',
    },
  })
}

/** The commit that the state refers to. Its author is known only if it is the current one. */
const commitOf = (source: SourceView, { version: planned }: AgentPageProject): Markup => {
  if (planned === undefined) return NOTHING
  const { author, subject = '' } = source.version === planned ? source : {}
  return markup`, planned for ${linked(source, planned)}${author === undefined ? '' : ` by ${author}: ${subject}`}`
}

const COMMIT_PATHS: Readonly<Record<string, string>> = {
  'github.com': '/commit/',
  'gitlab.com': '/-/commit/',
  'bitbucket.org': '/commits/',
}

/** Links a commit only if the form of the host's addresses is known. */
const linked = ({ from }: SourceView, commit: string): Markup => {
  const [, host = '', path = ''] = /^https:\/\/([\w.]+)\/([\w.-]+(?:\/[\w.-]+)+)\/?$/.exec(from) ?? []
  const place = Object.hasOwn(COMMIT_PATHS, host) ? COMMIT_PATHS[host] : undefined
  return place === undefined || !/^[0-9a-f]{40}$/.test(commit)
    ? version(commit)
    : markup`<a href="https://${host}/${path.replace(/\.git$/, '')}${place}${commit}" rel="noreferrer">${version(commit)}</a>`
}

const historyList = (source: SourceView, { applies, page: current, pages }: PastApplies, seen: Seen): Markup =>
  applies.length === 0
    ? markup`<p class="quiet">The agent has not changed this project yet.</p>`
    : markup`<ol class="fine">${applies.map(
        ({ at, version: applied, done, interruptions }) =>
          markup`<li>${icon('check')}<span>${moment(at, seen)}, ${linked(source, applied)}, ${counted(interruptions, 'interruption')}: ${done.length === 0 ? 'no step was done' : done.join('; ')}</span></li>
`,
      )}</ol><p class="quiet">${pageLinks(current, pages)}</p>`

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
