import { defined, formatUtc } from '../../base/index.ts'
import { type AgentView, EspalierError, EXIT, type ExitCode, type ProjectView, plainText } from '../../model/index.ts'
import { agentProjectDetail, agentStatusTable } from '../../report/index.ts'
import { agentIn, exitCodeOfAll } from '../agent-data.ts'
import type { HistoryFlags, ReconcileFlags, ResumeFlags, StatusFlags, SuspendFlags } from '../commands/agent.ts'
import { usageError } from '../flags.ts'
import type { Io } from '../io.ts'
import { print, styleOf, tableStyle } from '../terminal.ts'

export const runAgentStatus = async (flags: StatusFlags, io: Io): Promise<ExitCode> => {
  const view = await viewOf(flags, io)
  if (flags.format === 'json') {
    print(JSON.stringify(view, null, 2), io.stdout)
    return exitCodeOfAll(view)
  }
  const { source } = view
  if (source.error !== undefined) print(`Warning  ${source.from}: ${source.error}`, io.stderr)
  return show(view, flags, io)
}

export const runAgentReconcile = async (flags: ReconcileFlags, io: Io): Promise<ExitCode> => {
  const { paths } = await subjectsOf(flags, io)
  const askedAt = io.clock.date()
  for (const path of paths) await ask(`${path}/reconcile`, 'POST', flags, io, { accept: flags.accept })
  const isRead = ({ refreshedAt = '', state }: ProjectView): boolean =>
    state === 'Invalid' || (Date.parse(refreshedAt) >= askedAt && state !== 'Progressing')
  for (;;) {
    const view = await viewOf(flags, io)
    if (view.projects.every(isRead)) return show(view, flags, io)
    await io.clock.sleep(POLL_MS)
  }
}

export const runAgentSuspend = async (flags: SuspendFlags, io: Io): Promise<ExitCode> => {
  const { paths, names } = await subjectsOf(flags, io)
  const body = { for: flags.for, reason: flags.reason }
  let until = ''
  for (const path of paths) {
    const suspension = (await ask(`${path}/suspension`, 'PUT', flags, io, body)) as { readonly until: string }
    until = ` until ${formatUtc(Date.parse(suspension.until))}`
  }
  print(`Suspended${until}: ${names}.`, io.stdout)
  return EXIT.ok
}

export const runAgentResume = async (flags: ResumeFlags, io: Io): Promise<ExitCode> => {
  const { paths, names } = await subjectsOf(flags, io)
  for (const path of paths) await ask(`${path}/suspension`, 'DELETE', flags, io)
  print(`Resumed: ${names}.`, io.stdout)
  return EXIT.ok
}

/** Shows a table of all projects. If the user named projects, shows those in detail, with all their differences. */
const show = (view: AgentView, flags: HistoryFlags, io: Io): ExitCode => {
  const { projects } = view
  const now = io.clock.date()
  if (flags.projects.length > 0) {
    const style = styleOf(io.stdout, flags, io.env)
    for (const project of projects) print(agentProjectDetail(project, now, style), io.stdout)
  } else if (projects.length === 0) print('The agent has no projects.', io.stdout)
  else print(agentStatusTable(projects, now, tableStyle(io.stdout, flags, io.env)), io.stdout)
  return exitCodeOfAll(view)
}

/** The API paths of the projects that the user named, and their names for use in messages. */
const subjectsOf = async (
  flags: ResumeFlags,
  io: Io,
): Promise<{ readonly paths: readonly string[]; readonly names: string }> => {
  if ((flags.all === true) === flags.projects.length > 0)
    throw usageError('Name one or more projects, or use --all, but not both.')
  if (flags.all === true) return { paths: [''], names: 'all projects' }
  const { projects } = await viewOf(flags, io)
  return {
    paths: projects.map(({ id }) => `/projects/${encodeURIComponent(id)}`),
    names: plainText(flags.projects.join(', ')),
  }
}

/** The state of the projects that the user named, or of all projects. */
const viewOf = async (flags: HistoryFlags, io: Io): Promise<AgentView> => {
  const view = (await ask('/projects', 'GET', flags, io)) as AgentView
  return flags.projects.length === 0 ? view : { ...view, projects: chosenOf(view, flags.projects) }
}

/** Finds projects by id or by name. Several projects can have the same name, in which case all of them are chosen. */
const chosenOf = ({ projects }: AgentView, names: readonly string[]): readonly ProjectView[] => {
  const chosen = names.flatMap((word) => {
    const byId = projects.filter(({ id }) => id === word)
    const found = byId.length > 0 ? byId : projects.filter(({ name }) => name === word)
    if (found.length > 0) return found
    throw new EspalierError('E_USAGE', `This agent has no project ${word}.`, {
      hint: 'To list its projects, run: espalier agent status',
    })
  })
  return [...new Set(chosen)]
}

const POLL_MS = 500
const TIMEOUT_MS = 30_000

/** @throws {EspalierError} the error that the agent returned, or `E_AGENT_UNREACHABLE`. */
const ask = async (path: string, method: string, { data }: HistoryFlags, io: Io, body?: object): Promise<unknown> => {
  const { url, token } = await agentIn(io.locate(data))
  let response: Response
  try {
    response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...defined({ body: body && JSON.stringify(body) }),
    })
  } catch (cause) {
    throw new EspalierError('E_AGENT_UNREACHABLE', `The agent does not respond at ${url}.`, {
      hint: 'Start it with `espalier agent run`, or name its folder with --data.',
      cause,
    })
  }
  const read: unknown = await response.json().catch(() => undefined)
  if (response.ok) return read
  const {
    code = 'E_AGENT_UNREACHABLE',
    message = `The agent returned status ${response.status}.`,
    hint,
  } = (read as { error?: { code?: string; message?: string; hint?: string } } | undefined)?.error ?? {}
  throw new EspalierError(code, message, { hint })
}
