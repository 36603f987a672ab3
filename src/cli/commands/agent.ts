import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readJournal } from '../../agent/index.ts'
import {
  defined,
  EspalierError,
  EXIT,
  type ExitCode,
  formatUtc,
  plainJson,
  plainText,
  shellWord,
} from '../../base/index.ts'
import {
  type AgentView,
  formatDuration,
  isUnpredicted,
  observedWords,
  type ProjectView,
  stepTitle,
  unrecordedIn,
} from '../../model/index.ts'
import { agentAdoption, agentProjectDetail, agentStatusTable } from '../../report/index.ts'
import { commandOf, type Description, type ValuesOf } from '../command.ts'
import { agentIn, DATA_FLAG, exitCodeOfAll, STATE_CODES } from '../setup/agent-data.ts'
import { duration, formatFlag, text, toggle, usageError } from '../setup/flags.ts'
import type { Io } from '../setup/io.ts'
import { completeCommands } from '../setup/suggested-commands.ts'
import { print, styleOf, tableStyle } from '../terminal/terminal.ts'

const CHOICE_FLAGS = { ...DATA_FLAG, all: toggle('', "Select all of the agent's projects") } as const

const PROJECTS = { projects: { describe: 'Ids or names of projects', array: true } } as const

const STATUS = {
  positionals: PROJECTS,
  flags: {
    ...DATA_FLAG,
    format: formatFlag('Output format; json has the format of GET /api/v1/projects', ['terminal', 'json']),
  },
  examples: [
    ['$0 agent status', 'Show the state of all projects'],
    ['$0 agent status quiet-river-12345678', 'Show every difference of one project, and the next command'],
  ],
  notes: STATE_CODES,
} as const satisfies Description

const HISTORY = {
  positionals: PROJECTS,
  flags: DATA_FLAG,
  examples: [['$0 agent history quiet-river-12345678', 'Show what the agent changed in one project']],
  notes: `Reads the journals in the data folder, which the agent keeps for at least 90 days. The agent need not be running.

Exit codes:
  0   shown
  1   an error, such as wrong usage or an unreadable journal`,
} as const satisfies Description

const RECONCILE = {
  positionals: PROJECTS,
  flags: {
    ...CHOICE_FLAGS,
    timeout: duration('', 'How long to wait for the projects', { default: '15m' }),
    accept: text(
      '',
      'Accept rewritten history, or restarts beyond --max-restarts, if the git branch is still at COMMIT',
      {
        value: 'COMMIT',
      },
    ),
  },
  examples: [['$0 agent reconcile quiet-river-12345678', 'Read one project immediately, and show its state']],
  notes: `Restart windows, --allow and suspensions still apply.

The command waits for each project until the agent has found it Invalid, or has tried to read it and
completed its steps. If this takes longer than --timeout, the exit code is 3.

${STATE_CODES}`,
} as const satisfies Description

const ADOPT = {
  positionals: PROJECTS,
  flags: {
    ...CHOICE_FLAGS,
    commit: text('', 'Let the agent apply the listed differences, if the git branch is still at COMMIT', {
      value: 'COMMIT',
    }),
  },
  examples: [
    ['$0 agent adopt quiet-river-12345678', 'List the differences, the most disruptive first'],
    ['$0 agent adopt quiet-river-12345678 --commit 0123456789ab', 'Let the agent apply them'],
  ],
  notes: `Restart windows, --allow, --on-git and suspensions still apply. If a live value changes after it was listed, the difference counts as drift.

Exit codes:
  0   adopted, or there is nothing to adopt
  1   an error, such as a commit or differences that have changed since they were shown
  2   shown, but not adopted`,
} as const satisfies Description

const SUSPEND = {
  positionals: PROJECTS,
  flags: {
    ...CHOICE_FLAGS,
    for: text('', 'How long to suspend the projects, at most 30d', { value: 'TIME', demandOption: true }),
    reason: text('', 'Why the projects are suspended; shown by agent status PROJECT', {
      value: 'TEXT',
      demandOption: true,
    }),
  },
  examples: [['$0 agent suspend --all --for 2h --reason "load test"', 'Suspend all projects']],
  notes: `Exit codes:
  0   suspended
  1   an error, such as wrong usage or an agent that cannot be reached`,
} as const satisfies Description

const RESUME = {
  positionals: PROJECTS,
  flags: CHOICE_FLAGS,
  examples: [['$0 agent resume --all', 'Resume all projects']],
  notes: `Exit codes:
  0   resumed
  1   an error, such as wrong usage or an agent that cannot be reached`,
} as const satisfies Description

type HistoryFlags = ValuesOf<typeof HISTORY>
type ResumeFlags = ValuesOf<typeof RESUME>

export const statusCommand = commandOf(STATUS, async (flags, io) => {
  const view = await viewOf(flags, io)
  if (flags.format === 'json') {
    print(plainJson(view, 2), io.stdout)
    return exitCodeOfAll(view)
  }
  const { source } = view
  if (source.error !== undefined) print(plainText(`warning  ${source.from}: ${source.error}`), io.stderr)
  return show(view, flags, io)
})

export const reconcileCommand = commandOf(RECONCILE, async (flags, io) => {
  const { paths } = await subjectsOf(flags, io)
  const askedAt = io.clock.date()
  const endsAt = askedAt + flags.timeout
  for (const path of paths) await ask(`${path}/reconcile`, 'POST', flags, io, { accept: flags.accept })
  const isEnded = ({ refreshedAt = '', unreadAt = '', state, reason }: ProjectView): boolean => {
    const isUnreadable = reason === 'Unreachable' || reason === 'KeyRefused'
    const triedAt = isUnreadable ? unreadAt : refreshedAt
    return state === 'Invalid' || (state !== 'Progressing' && Date.parse(triedAt) >= askedAt)
  }
  for (;;) {
    const view = await viewOf(flags, io)
    if (view.projects.every(isEnded)) return show(view, flags, io)
    if (io.clock.date() >= endsAt) {
      const late = view.projects.filter((project) => !isEnded(project)).map(({ id }) => plainText(id))
      print(`warning  Not ended within ${formatDuration(flags.timeout / 1_000)}: ${late.join(', ')}.`, io.stderr)
      show(view, flags, io)
      return EXIT.partial
    }
    await io.clock.sleep(POLL_MS)
  }
})

export const adoptCommand = commandOf(ADOPT, async (flags, io) => {
  await subjectsOf(flags, io)
  const { projects, source } = await viewOf(flags, io)
  const found = projects.filter(({ differences }) => unrecordedIn(differences).length > 0)
  const style = styleOf(io.stdout, flags, io.env)
  for (const project of found) print(agentAdoption(project, style), io.stdout)
  if (found.length === 0) print('There is nothing to adopt.', io.stdout)
  else if (flags.commit === undefined) {
    const names = flags.projects.map((name) => `${shellWord(plainText(name))} `).join('')
    const commit = source.version?.slice(0, 12) ?? 'COMMIT'
    const next = `To let the agent apply this, run \`espalier agent adopt ${names}--commit ${commit}\`.`
    print(completeCommands(next, flags.invocation), io.stdout)
    return EXIT.changes
  } else {
    for (const { id, differences } of found) {
      const shown = unrecordedIn(differences).map(({ compute, path, live, want }) => ({ compute, path, live, want }))
      const body = { commit: flags.commit, differences: shown }
      await ask(`/projects/${encodeURIComponent(id)}/adoption`, 'POST', flags, io, body)
    }
    print(`Adopted: ${found.map(({ id }) => plainText(id)).join(', ')}.`, io.stdout)
  }
  return EXIT.ok
})

export const suspendCommand = commandOf(SUSPEND, async (flags, io) => {
  const { paths, names } = await subjectsOf(flags, io)
  const body = { for: flags.for, reason: flags.reason }
  let until = ''
  for (const path of paths) {
    const suspension = (await ask(`${path}/suspension`, 'PUT', flags, io, body)) as { readonly until: string }
    until = ` until ${formatUtc(Date.parse(suspension.until))}`
  }
  print(`Suspended${until}: ${names}.`, io.stdout)
  return EXIT.ok
})

export const resumeCommand = commandOf(RESUME, async (flags, io) => {
  const { paths, names } = await subjectsOf(flags, io)
  for (const path of paths) await ask(`${path}/suspension`, 'DELETE', flags, io)
  print(`Resumed: ${names}.`, io.stdout)
  return EXIT.ok
})

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
      hint: 'To list its projects, run `espalier agent status`.',
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

const NAME = /^(?<h>\d\d)(?<m>\d\d)(?<s>\d\d)-(?<project>.+)-(?<version>[^-]*)-[^-]+\.jsonl$/

/** Prints the newest entry last, as a log does. */
export const historyCommand = commandOf(HISTORY, async ({ projects, data }, io) => {
  const journals = join(io.locate(data), 'journals')
  const of = projects.length === 0 ? '' : plainText(` in ${projects.join(', ')}`)
  let shown = 0
  for (const day of (await readdir(journals).catch(() => [])).sort()) {
    for (const name of (await readdir(join(journals, day))).sort()) {
      const { h, m, s, project = '', version = '' } = NAME.exec(name)?.groups ?? {}
      if (h === undefined) continue
      const journal = await readJournal(join(journals, day, name))
      if (journal === undefined) continue
      const names = [project, journal.plan.projectNames?.[project]]
      if (projects.length > 0 && !projects.some((one) => names.includes(one))) continue
      shown += 1
      const { plan, started, done, observed, hasEnded } = journal
      const changes = new Map(plan.changes.map((change) => [change.id, change]))
      print(plainText(`${day} ${h}:${m}:${s}  ${project}  ${version}${hasEnded ? '' : '  interrupted'}`), io.stdout)
      for (const step of plan.steps.filter(({ id }) => started.has(id))) {
        const fate = done.has(step.id) ? '' : ': not done'
        const impact = step.impact === 'none' ? '' : ` (${step.impact})`
        const seen = observed.get(step.id)
        const effect =
          seen === undefined ? '' : `: ${isUnpredicted(seen) ? 'not predicted: ' : ''}${observedWords(seen)}`
        print(`  ${stepTitle(step, changes)}${impact}${fate}${effect}`, io.stdout)
      }
    }
  }
  if (shown === 0) print(`The agent has not changed anything${of} yet.`, io.stdout)
  return EXIT.ok
})
