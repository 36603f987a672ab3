/** Shows the status of an agent's projects, as a table or with the details of one project. */
import { plainText } from '../../base/index.ts'
import { type DifferenceView, IMPACTS, type ProjectView, unrecordedIn } from '../../model/index.ts'
import { agentProjectState, agentStatusName, agentStatusWords, byUrgency } from '../words/agent.ts'
import { ageOf } from '../words/counts.ts'
import { differenceEffects } from '../words/effects.ts'
import { shortImpact } from '../words/impacts.ts'
import { releasedCounts, releasedLines } from '../words/released.ts'
import { paintOf, type Style } from './style.ts'
import { tableOf } from './table.ts'

/** @param now milliseconds since the epoch. */
export const agentStatusTable = (projects: readonly ProjectView[], now: number, style: Style): string => {
  const table = tableOf<ProjectView>(
    [
      { title: 'PROJECT', text: ({ id }) => plainText(id) },
      { title: 'NAME', text: ({ name = '' }) => plainText(name), isOptional: true },
      { title: 'STATE', text: agentProjectState },
      {
        title: 'DIFFERENCES',
        text: ({ differences }) => (differences.length === 0 ? '' : String(differences.length)),
        isNumber: true,
      },
      ...(projects.some(({ released }) => releasedCounts(released) !== '')
        ? [{ title: 'NO LONGER MANAGED', text: ({ released }: ProjectView) => releasedCounts(released) }]
        : []),
      { title: 'SINCE', text: ({ since }) => minuteOf(since), isOptional: true },
      { title: 'UNTIL', text: ({ until }) => (until === undefined ? '' : minuteOf(until)), isOptional: true },
      { title: 'AS OF', text: ({ refreshedAt }) => agoOf(refreshedAt, now), isOptional: true },
      { title: 'VERSION', text: ({ version = '' }) => version.slice(0, 12), isOptional: true },
      { title: 'NEXT COMMAND', text: ({ command = '' }) => plainText(command), isOptional: true },
    ],
    projects,
    style,
  )
  return [table.head, ...projects.toSorted(byUrgency).map(table.line)].join('\n')
}

/** @param now milliseconds since the epoch. */
export const agentProjectDetail = (project: ProjectView, now: number, style: Style): string => {
  const paint = paintOf(style)
  const { id, name, message, until, command, differences, released, refreshedAt, version } = project
  const why = agentStatusWords(project)
  return [
    `${paint.bold(plainText(id))}${name === undefined ? '' : ` (${plainText(name)})`}  ${agentProjectState(project)}: ${why}`,
    ...(message === undefined ? [] : [`  ${plainText(message)}`]),
    ...(until === undefined ? [] : [`  until ${minuteOf(until)} UTC`]),
    ...(refreshedAt === undefined ? [] : [`  as of ${agoOf(refreshedAt, now)}`]),
    ...(version === undefined ? [] : [`  version ${plainText(version.slice(0, 12))}`]),
    ...releasedLines(released).map((line) => `  ${plainText(line)}`),
    ...differences.flatMap((one) => differenceLines(one, `${one.origin}, ${agentStatusName(one)}`, differences)),
    ...(command === undefined ? [] : [`  Next: ${plainText(command)}`]),
  ].join('\n')
}

/** The differences of a project that the agent applies once they are adopted, starting with the most disruptive. */
export const agentAdoption = ({ id, name, differences }: ProjectView, style: Style): string => {
  const sorted = unrecordedIn(differences).toSorted((a, b) => IMPACTS.indexOf(b.impact) - IMPACTS.indexOf(a.impact))
  return [
    `${paintOf(style).bold(plainText(id))}${name === undefined ? '' : ` (${plainText(name)})`}`,
    ...sorted.flatMap((one) => differenceLines(one, shortImpact(one), sorted)),
  ].join('\n')
}

const agoOf = (time: string | undefined, now: number): string => (time === undefined ? '' : `${ageOf(time, now)} ago`)

const differenceLines = (one: DifferenceView, about: string, all: readonly DifferenceView[]): readonly string[] => {
  const { branch, compute, kind, path, live, want, declaredAt } = one
  const what = path === undefined ? kind : `${path}: ${live ?? 'none'} → ${want ?? 'none'}`
  const place = declaredAt === undefined ? '' : `, ${declaredAt}`
  return [
    `  ${plainText(`${branch} ${compute}  ${what}  (${about}${place})`)}`,
    ...differenceEffects(one, all).map((text) => `    ${plainText(text)}`),
  ]
}

/** `2026-11-22 02:00` */
const minuteOf = (time: string): string => time.slice(0, 16).replace('T', ' ')
