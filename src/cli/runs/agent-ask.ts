import {
  type AgentView,
  EspalierError,
  EXIT,
  type ExitCode,
  formatUtc,
  type ProjectView,
  plainText,
} from '../../model/index.ts'
import { agentProjectDetail, agentStatusTable } from '../../report/index.ts'
import { agentIn, exitCodeOfAll } from '../agent-data.ts'
import type { HistoryFlags, ReconcileFlags, ResumeFlags, StatusFlags, SuspendFlags } from '../commands/agent.ts'
import { usageError } from '../flags.ts'
import type { Io } from '../io.ts'
import { print, styleOf, tableStyle } from '../terminal.ts'

export const runAgentStatus = async (flags: StatusFlags, io: Io): Promise<ExitCode> => {
  const view = await viewOf(flags, io)
  const shown = chosenOf(view, flags.projects)
  if (flags.format === 'json') {
    print(JSON.stringify({ ...view, projects: shown }, null, 2), io.stdout)
    return exitCodeOfAll({ ...view, projects: shown })
  }
  const { source } = view
  if (source.error !== undefined) print(`Warning  ${source.from}: ${source.error}`, io.stderr)
  return show({ ...view, projects: shown }, flags.projects.length > 0, flags, io)
}

export const runAgentReconcile = async (flags: ReconcileFlags, io: Io): Promise<ExitCode> => {
  const asked = subjectsOf(flags)
  const body = flags.accept === undefined ? {} : { accept: flags.accept }
  const askedAt = io.clock.date()
  for (const path of await pathsOf(asked, flags, io)) await ask(`${path}/reconcile`, 'POST', flags, io, body)
  if (flags.wait !== true) {
    print(`Reading now: ${namesOf(asked)}.`, io.stdout)
    return EXIT.ok
  }
  for (;;) {
    const view = await viewOf(flags, io)
    const chosen = chosenOf(view, asked === 'all' ? [] : asked)
    const isRead = ({ refreshedAt = '', state }: ProjectView): boolean =>
      state === 'Invalid' || (Date.parse(refreshedAt) >= askedAt && state !== 'Progressing')
    if (chosen.every(isRead)) return show({ ...view, projects: chosen }, asked !== 'all', flags, io)
    await io.clock.sleep(500)
  }
}

export const runAgentSuspend = async (flags: SuspendFlags, io: Io): Promise<ExitCode> => {
  const body = { for: flags.for, reason: flags.reason }
  return changeSuspension('PUT', 'Suspended', flags, io, body)
}

export const runAgentResume = async (flags: ResumeFlags, io: Io): Promise<ExitCode> =>
  changeSuspension('DELETE', 'Resumed', flags, io)

const changeSuspension = async (
  method: string,
  done: string,
  flags: ResumeFlags,
  io: Io,
  body?: object,
): Promise<ExitCode> => {
  const asked = subjectsOf(flags)
  let until: string | undefined
  for (const path of await pathsOf(asked, flags, io)) {
    const answer = (await ask(`${path}/suspension`, method, flags, io, body)) as { readonly until?: string }
    until = answer.until
  }
  const end = until === undefined ? '' : ` until ${formatUtc(Date.parse(until))}`
  print(`${done}${end}: ${namesOf(asked)}.`, io.stdout)
  return EXIT.ok
}

const namesOf = (asked: readonly string[] | 'all'): string =>
  asked === 'all' ? 'all projects' : plainText(asked.join(', '))

const show = (view: AgentView, isDetailed: boolean, flags: HistoryFlags, io: Io): ExitCode => {
  const { projects } = view
  const now = io.clock.date()
  if (isDetailed)
    for (const project of projects)
      print(agentProjectDetail(project, now, styleOf(io.stdout, flags, io.env)), io.stdout)
  else if (projects.length === 0) print('The agent has no project.', io.stdout)
  else print(agentStatusTable(projects, now, tableStyle(io.stdout, flags, io.env)), io.stdout)
  return exitCodeOfAll(view)
}

const subjectsOf = ({ projects, all }: ResumeFlags): readonly string[] | 'all' => {
  if ((all === true) === projects.length > 0) throw usageError('Name projects, or give --all.')
  return all === true ? 'all' : projects
}

const pathsOf = async (asked: readonly string[] | 'all', flags: HistoryFlags, io: Io): Promise<readonly string[]> =>
  asked === 'all'
    ? ['']
    : chosenOf(await viewOf(flags, io), asked).map(({ id }) => `/projects/${encodeURIComponent(id)}`)

const viewOf = async (flags: HistoryFlags, io: Io): Promise<AgentView> =>
  (await ask('/projects', 'GET', flags, io)) as AgentView

/** By id, or by name: names need not be unique. */
const chosenOf = ({ projects }: AgentView, asked: readonly string[]): readonly ProjectView[] => {
  if (asked.length === 0) return projects
  const chosen = asked.flatMap((word) => {
    const found = projects.filter(({ id }) => id === word)
    const named = found.length > 0 ? found : projects.filter(({ name }) => name === word)
    if (named.length > 0) return named
    throw new EspalierError('E_USAGE', `This agent has no project ${word}.`, {
      hint: 'List its projects: espalier agent status',
    })
  })
  return [...new Set(chosen)]
}

const TIMEOUT_MS = 30_000

/** @throws {EspalierError} what the agent answered, or `E_AGENT_UNREACHABLE`. */
const ask = async (path: string, method: string, { data }: HistoryFlags, io: Io, body?: object): Promise<unknown> => {
  const { url, token } = await agentIn(io.locate(data))
  let answer: Response
  try {
    answer = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  } catch (cause) {
    throw new EspalierError('E_AGENT_UNREACHABLE', `The agent does not answer at ${url}.`, {
      hint: 'Start it with `espalier agent run`, or name its folder with --data.',
      cause,
    })
  }
  const read: unknown = await answer.json().catch(() => undefined)
  if (answer.ok) return read
  const {
    code = 'E_AGENT_UNREACHABLE',
    message = `The agent answered with status ${answer.status}.`,
    hint,
  } = (read as { error?: { code?: string; message?: string; hint?: string } } | undefined)?.error ?? {}
  throw new EspalierError(code, message, hint === undefined ? {} : { hint })
}
