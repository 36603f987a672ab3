import { type Command, defineCommand } from '../command.ts'
import { number, text, toggle } from '../flag.ts'
import { API_ENVIRONMENT, API_FLAGS, MANIFEST_FLAGS } from '../flags.ts'
import { REVIEW_FLAGS } from '../review-flags.ts'
import { BUDGET_FLAGS } from './budgets.ts'
import { PATHS } from './paths.ts'

const DATA_FLAG = {
  data: text('Agent:', 'Folder with what the agent remembers; one agent at a time', { default: '.espalier/agent' }),
} as const

const ALL_FLAG = { all: { type: 'boolean', describe: 'All projects of the agent' } } as const

const setting = (group: string, describe: string) => ({ type: 'string', requiresArg: true, group, describe }) as const

const defaulted = (group: string, describe: string, value: string) =>
  ({ ...setting(group, describe), default: value }) as const

const choice = <const C extends readonly string[]>(describe: string, choices: C, value: C[number]) =>
  ({ type: 'string', requiresArg: true, choices, default: value, group: 'Decisions:', describe }) as const

/** Overrides name their reason, for one run. */
const { override: _, 'no-project': __, ...REVIEW } = REVIEW_FLAGS

const STATE_CODES = `Exit codes:
  0   every project is Synced
  1   wrong usage, or the agent cannot be reached
  2   a project is OutOfSync, Progressing or Unknown
  3   a project is Blocked, Failing, Invalid or Suspended
  5   all is done but what waits for its restart window`

const runCommand = defineCommand({
  command: 'run [paths..]',
  summary: 'Keep projects as their manifests declare them, until SIGTERM',
  positionals: { paths: { ...PATHS.paths, describe: `${PATHS.paths.describe}; with --repo, within the repository` } },
  flags: {
    repo: setting('Manifests:', 'Git repository with the manifests: any URL or path that git can fetch'),
    ref: defaulted('Manifests:', 'Branch or tag of --repo', 'main'),
    'git-interval': defaulted('Manifests:', 'How often manifests are fetched or read', '30s'),
    'on-git': choice('What a commit changes', ['apply', 'report'], 'apply'),
    'on-drift': choice('What somebody changed in a live project', ['report', 'revert'], 'report'),
    'on-unrecorded': choice('Differences that nothing is recorded of', ['report', 'apply'], 'report'),
    allow: text(
      'Decisions:',
      'What may happen, with commas: restart (always, unless none is given), disconnect, move, replace, delete, none',
      { array: true },
    ),
    ...BUDGET_FLAGS,
    ...REVIEW,
    ...MANIFEST_FLAGS,
    interval: defaulted('Agent:', 'How often each project is read; at least 60s', '5m'),
    'request-share': number('Agent:', "Share of an account's request limit, from 0 to 1", { default: 0.5 }),
    once: toggle('Agent:', 'One round, then exit like agent status'),
    ...DATA_FLAG,
    keep: defaulted('Agent:', 'How long journals are kept', '90d'),
    'operation-timeout': defaulted('Agent:', 'How long to wait for the operations of a step', '10m'),
    keys: setting('Control API:', 'YAML file with several keys, each with its projects and paths'),
    listen: defaulted(
      'Serving:',
      'Address of page and API; beyond this machine, both need the token',
      '127.0.0.1:7790',
    ),
    'listen-public': setting('Serving:', 'Address of health, metrics and the git webhook alone'),
    'webhook-secret-file': setting('Serving:', 'File with the secret of POST /hooks/git'),
    notify: setting('Serving:', 'URL that events are sent to, as CloudEvents'),
    'notify-secret-file': setting('Serving:', 'File with the secret that events are signed with (Standard Webhooks)'),
    ...API_FLAGS,
  },
  examples: [
    ['$0 agent run --repo https://github.com/acme/db --ref main', 'Follow a branch'],
    ['$0 agent run /etc/espalier', 'Follow a folder, such as a mounted ConfigMap'],
    ['$0 agent run --repo . --sandbox --seed seed.yaml', 'Without an account'],
    ['$0 agent run --repo . --once', 'One round, for a scheduler'],
  ],
  notes: `SIGTERM or Ctrl-C: running steps complete, then it exits. Twice: stop immediately.

${STATE_CODES}
  Without --once it exits with 0 once it was stopped, and with 1 if it could not start or go on.
  With --once and --notify, it waits up to 30 s for events to be delivered; the next run sends the rest.

${API_ENVIRONMENT}`,
  run: async (argv, io) => (await import('../runs/agent-run.ts')).runAgent(argv, io),
})

const statusCommand = defineCommand({
  command: 'status [projects..]',
  summary: 'Show the state of each project, and of named ones every difference',
  positionals: { projects: { describe: 'Projects, by id or name', array: true } },
  flags: {
    ...DATA_FLAG,
    format: text('Output:', 'json: what GET /api/v1/projects answers', {
      choices: ['terminal', 'json'],
      default: 'terminal',
    }),
  },
  examples: [
    ['$0 agent status', 'All projects'],
    ['$0 agent status quiet-river-12345678', 'Each difference of one, and what settles it'],
  ],
  notes: STATE_CODES,
  run: async (argv, io) => (await import('../runs/agent-ask.ts')).runAgentStatus(argv, io),
})

const historyCommand = defineCommand({
  command: 'history [projects..]',
  summary: 'Show what the agent changed, when, from which commit, and what restarted',
  positionals: { projects: { describe: 'Projects, by id or name', array: true } },
  flags: { ...DATA_FLAG },
  examples: [['$0 agent history quiet-river-12345678', 'Of one project']],
  notes: `Read from the journals in the data folder; the agent need not run.

Exit codes:
  0   shown
  1   wrong usage`,
  run: async (argv, io) => (await import('../runs/agent-history.ts')).runAgentHistory(argv, io),
})

const reconcileCommand = defineCommand({
  command: 'reconcile [projects..]',
  summary: 'Read projects now, and try again what was refused or failed',
  positionals: { projects: { describe: 'Projects, by id or name', array: true } },
  flags: {
    ...DATA_FLAG,
    ...ALL_FLAG,
    wait: { type: 'boolean', describe: 'Until they were read, then exit like agent status' },
    accept: { type: 'string', requiresArg: true, describe: 'Accept rewritten history: the current commit' },
  },
  examples: [['$0 agent reconcile quiet-river-12345678 --wait', 'Read it now and show its state']],
  notes: `It overrides no restart window, consent or suspension.

${STATE_CODES}
  Without --wait: 0 once the agent has taken it.`,
  run: async (argv, io) => (await import('../runs/agent-ask.ts')).runAgentReconcile(argv, io),
})

const suspendCommand = defineCommand({
  command: 'suspend [projects..]',
  summary: 'Apply nothing to projects for a while; they are still read and reported',
  positionals: { projects: { describe: 'Projects, by id or name', array: true } },
  flags: {
    ...DATA_FLAG,
    ...ALL_FLAG,
    for: { type: 'string', requiresArg: true, demandOption: true, describe: 'How long, at most 30d' },
    reason: { type: 'string', requiresArg: true, demandOption: true, describe: 'Why, for whoever sees it' },
  },
  examples: [['$0 agent suspend --all --for 2h --reason "load test"', 'All projects']],
  notes: `Exit codes:
  0   suspended
  1   wrong usage, or the agent cannot be reached`,
  run: async (argv, io) => (await import('../runs/agent-ask.ts')).runAgentSuspend(argv, io),
})

const resumeCommand = defineCommand({
  command: 'resume [projects..]',
  summary: 'End a suspension',
  positionals: { projects: { describe: 'Projects, by id or name', array: true } },
  flags: { ...DATA_FLAG, ...ALL_FLAG },
  examples: [['$0 agent resume --all', 'All projects']],
  notes: `Exit codes:
  0   resumed
  1   wrong usage, or the agent cannot be reached`,
  run: async (argv, io) => (await import('../runs/agent-ask.ts')).runAgentResume(argv, io),
})

export const agentCommand: Command = {
  command: 'agent',
  summary: 'Keep projects as declared, continuously',
  flags: {},
  subcommands: [runCommand, statusCommand, historyCommand, reconcileCommand, suspendCommand, resumeCommand],
  examples: [
    ['$0 agent run --repo https://github.com/acme/db', 'Follow a repository'],
    ['$0 agent status', 'The state of each project'],
  ],
  notes: 'Guide: docs/agent.md',
}
