import { type Command, defineCommand, type ValuesOf } from '../command.ts'
import { number, text, toggle } from '../flag.ts'
import { API_ENVIRONMENT, API_FLAGS, BUDGET_FLAGS, MANIFEST_FLAGS } from '../flags.ts'
import { REVIEW_FLAGS } from '../review-flags.ts'
import { PATHS } from './paths.ts'

const DATA_FLAG = {
  data: text('Agent:', 'Folder with what the agent remembers; one agent at a time', { default: '.espalier/agent' }),
} as const

const ALL_FLAG = { all: toggle('', 'All projects of the agent') } as const

const STATUS_FLAGS = {
  ...DATA_FLAG,
  format: text('Output:', 'json: what GET /api/v1/projects answers', {
    choices: ['terminal', 'json'],
    default: 'terminal',
  }),
} as const

const CHOICE_FLAGS = { ...DATA_FLAG, ...ALL_FLAG } as const

const RECONCILE_FLAGS = {
  ...CHOICE_FLAGS,
  wait: toggle('', 'Until they were read, then exit like agent status'),
  accept: text('', 'Accept rewritten history: the current commit'),
} as const

const SUSPEND_FLAGS = {
  ...CHOICE_FLAGS,
  for: text('', 'How long, at most 30d', { demandOption: true }),
  reason: text('', 'Why, for whoever sees it', { demandOption: true }),
} as const

export type AskFlags = ValuesOf<typeof DATA_FLAG, 'projects'>
export type StatusFlags = ValuesOf<typeof STATUS_FLAGS, 'projects'>
export type ChoiceFlags = ValuesOf<typeof CHOICE_FLAGS, 'projects'>
export type ReconcileFlags = ValuesOf<typeof RECONCILE_FLAGS, 'projects'>
export type SuspendFlags = ValuesOf<typeof SUSPEND_FLAGS, 'projects'>

const STATE_CODES = `Exit codes:
  0   every project is Synced
  1   wrong usage, or the agent cannot be reached
  2   a project is OutOfSync, Progressing or Unknown
  3   a project is Blocked, Failing, Invalid or Suspended
  5   all is done but what waits for its restart window`

/** Excluded, because an override applies to a single run and states its reason. */
const { override: _, 'no-project': __, ...REVIEW } = REVIEW_FLAGS

const RUN_FLAGS = {
  repo: text('Manifests:', 'Git repository with the manifests: any URL or path that git can fetch'),
  ref: text('Manifests:', 'Branch or tag of --repo', { default: 'main' }),
  'git-interval': text('Manifests:', 'How often manifests are fetched or read', { default: '30s' }),
  'on-git': text('Decisions:', 'What a commit changes', { choices: ['apply', 'report'], default: 'apply' }),
  'on-drift': text('Decisions:', 'What somebody changed in a live project', {
    choices: ['report', 'revert'],
    default: 'report',
  }),
  'on-unrecorded': text('Decisions:', 'Differences that nothing is recorded of', {
    choices: ['report', 'apply'],
    default: 'report',
  }),
  allow: text(
    'Decisions:',
    'What may happen, with commas: restart (always, unless none is given), disconnect, move, replace, delete, none',
    { array: true },
  ),
  ...BUDGET_FLAGS,
  ...REVIEW,
  ...MANIFEST_FLAGS,
  interval: text('Agent:', 'How often each project is read; at least 60s', { default: '5m' }),
  'request-share': number('Agent:', "Share of an account's request limit, from 0 to 1", { default: 0.5 }),
  once: toggle('Agent:', 'One round, then exit like agent status'),
  ...DATA_FLAG,
  keep: text('Agent:', 'How long journals are kept', { default: '90d' }),
  'operation-timeout': text('Agent:', 'How long to wait for the operations of a step', { default: '10m' }),
  keys: text('Control API:', 'YAML file with several keys, each with its projects and paths'),
  listen: text('Serving:', 'Address of page and API; beyond this machine, both need the token', {
    default: '127.0.0.1:7790',
  }),
  'listen-public': text('Serving:', 'Address of health, metrics and the git webhook alone'),
  'webhook-secret-file': text('Serving:', 'File with the secret of POST /hooks/git'),
  notify: text('Serving:', 'URL that events are sent to, as CloudEvents'),
  'notify-secret-file': text('Serving:', 'File with the secret that events are signed with (Standard Webhooks)'),
  ...API_FLAGS,
} as const

export type AgentRunFlags = ValuesOf<typeof RUN_FLAGS, 'paths'>

const runCommand = defineCommand({
  command: 'run [paths..]',
  summary: 'Keep projects as their manifests declare them, until SIGTERM',
  positionals: { paths: { ...PATHS.paths, describe: `${PATHS.paths.describe}; with --repo, within the repository` } },
  flags: RUN_FLAGS,
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
  flags: STATUS_FLAGS,
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
  flags: DATA_FLAG,
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
  flags: RECONCILE_FLAGS,
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
  flags: SUSPEND_FLAGS,
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
  flags: CHOICE_FLAGS,
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
