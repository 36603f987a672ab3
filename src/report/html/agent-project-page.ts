/** How the agent shows one project: its state, differences and next command, and a page with its plan and history. */
import { counted, group } from '../../base/index.ts'
import type { DifferenceView, Plan, ProjectView, SourceView } from '../../model/index.ts'
import { agentStatusName, agentStatusWords } from '../words/agent.ts'
import { ageOf, capitalised, minuteOf } from '../words/counts.ts'
import { differenceEffects } from '../words/effects.ts'
import { IMPACT_MARKS, shortImpact } from '../words/impacts.ts'
import { releasedLines } from '../words/released.ts'
import assets from './generated/assets.json' with { type: 'json' }
import {
  andMore,
  chip,
  icon,
  joined,
  kindLabel,
  type Markup,
  markup,
  NOTHING,
  STATE_ICONS,
  section,
  verdictHeading,
  when,
} from './markup.ts'
import { type PageFrame, page } from './page.ts'
import { planSections } from './plan-page.ts'

export interface Seen {
  /** When the page is made, in milliseconds since the epoch. If absent, no time is shown as relative to it. */
  readonly now?: number | undefined
}

export interface AgentPageProject extends ProjectView, Seen {
  /** `windowOpensAt` in the time zone of the window, such as `Sun 2026-11-22 02:00`. */
  readonly windowOpensLocally?: string | undefined
}

/** How many differences and removals are listed. The page of the project shows all of them. */
const MOST_LISTED = 30

/** Shortens a commit id. Other version labels are already short. */
export const version = (text: string): Markup => markup`<code title="${text}">${text.slice(0, 12)}</code>`

export const moment = (iso: string, { now }: Seen): Markup =>
  markup`<time datetime="${iso}">${minuteOf(iso)}</time>${now === undefined ? '' : ` (${relative(iso, now)})`}`

const relative = (iso: string, now: number): string =>
  Date.parse(iso) > now ? `in ${ageOf(new Date(now).toISOString(), Date.parse(iso))}` : `${ageOf(iso, now)} ago`

export const pageLinks = (current: number, pages: number, others: Readonly<Record<string, string>> = {}): Markup => {
  const link = (to: number, words: string): Markup =>
    markup`<a href="?${new URLSearchParams({ ...others, page: String(to) }).toString()}">${words}</a>`
  const found = [
    ...(current > 1 ? [link(current - 1, 'Previous')] : []),
    ...(current < pages ? [link(current + 1, 'Next')] : []),
  ]
  return when(pages > 1, () => markup`Page ${current} of ${pages}. ${joined(found, ' ')}`)
}

/** What is known of a project, and what to do next. */
export const details = (project: AgentPageProject): Markup =>
  markup`${factList(project)}
${command(project)}
${releasedList(project)}${differences(project)}`

const factList = (project: AgentPageProject): Markup =>
  markup`<dl>${facts(project).map(([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`

const command = ({ id, command }: AgentPageProject): Markup =>
  command === undefined ? NOTHING : markup`<p class="paste"><code class="command" id="c-${id}">${command}</code></p>`

/** The message of a suspended project is the reason that the user gave. */
export const why = ({ message, ...status }: AgentPageProject): string => {
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
      section('state', 'State', markup`<div class="agent">${details(project)}</div>`),
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
    () =>
      markup`<ul>${lines.slice(0, MOST_LISTED).map((line) => markup`<li>${line}</li>`)}</ul>${andMore(lines.length, MOST_LISTED)}`,
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
  markup`<tr><th scope="row">${kindLabel(one.kind)} ${one.compute} on ${one.branch}${one.path === undefined ? '' : `: ${one.path}`}${one.declaredAt === undefined ? NOTHING : markup` <code>${one.declaredAt}</code>`}</th><td>${value(one.live)}</td><td>${value(one.want)}</td><td>${chip(IMPACT_MARKS[one.impact], shortImpact(one))}${differenceEffects(one, all).map((text) => markup`<p class="quiet">${text}</p>`)}</td><td>${one.origin}</td><td>${agentStatusName(one)}</td></tr>
`

const value = (text: string | null): Markup =>
  text === null ? markup`<span class="quiet">none</span>` : markup`<code>${text}</code>`
