import type { Command, ValuesOf } from '../command.ts'
import { duration, number, text, toggle } from '../flag.ts'
import { API_FLAGS, BUDGET_FLAGS, MANIFEST_FLAGS, PATHS, REVIEW_FLAGS } from '../flags.ts'

const DATA_FLAG = {
  data: text('Agent:', 'Data folder of the agent; only one agent can use it at a time', { default: '.espalier/agent' }),
} as const

const CHOICE_FLAGS = { ...DATA_FLAG, all: toggle('', 'All projects of the agent') } as const

const PROJECTS = { projects: { describe: 'Projects, by id or name', array: true } } as const

const STATE_CODES = `Exit codes:
  0   every project is Synced
  1   wrong usage, or the agent cannot be reached
  2   a project is OutOfSync, Progressing or Unknown
  3   a project is Blocked, Failing, Invalid or Suspended
  5   everything is done, except for steps that wait for their restart window`

/** Without `--override`, which is for a single run and states its reason. */
const { override: _, 'no-project': __, ...REVIEW } = REVIEW_FLAGS

export const runCommand = {
  command: 'run [paths..]',
  summary: 'Keep projects as their manifests declare them, until SIGTERM',
  positionals: {
    paths: {
      ...PATHS.paths,
      describe:
        'Files, directories or globs (default: espalier.yaml, else espalier/); with --repo, within the repository',
    },
  },
  flags: {
    repo: text('Manifests:', 'Git repository with the manifests: any URL or path that git can fetch'),
    ref: text('Manifests:', 'Branch or tag of --repo', { default: 'main' }),
    'git-interval': duration('Manifests:', 'How often to fetch or read the manifests', { default: '30s' }),
    'on-git': text('Decisions:', 'What to do about changes made by a commit', {
      choices: ['apply', 'report'],
      default: 'apply',
    }),
    'on-drift': text('Decisions:', 'What to do about drift, which is a change made in a live project', {
      choices: ['report', 'revert'],
      default: 'report',
    }),
    'on-unrecorded': text('Decisions:', 'What to do about differences of unknown origin', {
      choices: ['report', 'apply'],
      default: 'report',
    }),
    allow: text(
      'Decisions:',
      'Impacts to allow, separated by commas: restart (allowed by default), disconnect, move, replace, delete, or none, which disallows restart',
      { array: true },
    ),
    ...BUDGET_FLAGS,
    ...REVIEW,
    ...MANIFEST_FLAGS,
    interval: duration('Agent:', 'How often to read each project; at least 60s', { default: '5m' }),
    'request-share': number('Agent:', "Share of an account's request limit that the agent may use, up to 1", {
      min: 0.001,
      max: 1,
      isFractional: true,
      default: 0.5,
    }),
    once: toggle('Agent:', 'Run one round, then exit with the exit code of `agent status`'),
    ...DATA_FLAG,
    keep: duration('Agent:', 'How long to keep journals', { default: '90d' }),
    'operation-timeout': duration('Agent:', 'How long to wait for the operations of a step', { default: '10m' }),
    keys: text('Control API:', 'YAML file that lists API keys, with the projects and manifest paths of each'),
    listen: text(
      'Serving:',
      'Address of the page and the API; if it is not a loopback address, reads also require the token',
      {
        default: '127.0.0.1:7790',
      },
    ),
    'listen-public': text('Serving:', 'Address that serves only health, metrics and the git webhook'),
    'webhook-secret-file': text('Serving:', 'File with the secret of POST /hooks/git'),
    notify: text('Serving:', 'URL to send events to, as CloudEvents'),
    'notify-secret-file': text('Serving:', 'File with the secret to sign events with (Standard Webhooks)'),
    ...API_FLAGS,
  },
  examples: [
    ['$0 agent run --repo https://github.com/acme/db --ref main', 'Follow a branch'],
    ['$0 agent run /etc/espalier', 'Follow a folder, such as a mounted ConfigMap'],
    ['$0 agent run --repo . --sandbox --seed seed.yaml', 'Without an account'],
    ['$0 agent run --repo . --once', 'Run one round, for example from cron'],
  ],
  notes: `SIGTERM or Ctrl-C: running steps complete, then the agent exits. A second signal stops it
immediately.

The --max-… flags limit what the agent does to each project in 24 hours.

${STATE_CODES}
  Without --once, the agent exits with 0 if it was stopped, and with 1 if it cannot start or
  continue.
  With --once and --notify, the agent waits up to 30 s for events to be delivered; the next run
  sends the rest.`,
} as const satisfies Command

export const statusCommand = {
  command: 'status [projects..]',
  summary: 'Show the state of each project; for named projects, show every difference',
  positionals: PROJECTS,
  flags: {
    ...DATA_FLAG,
    format: text('Output:', 'Output format; json is the response of GET /api/v1/projects', {
      choices: ['terminal', 'json'],
      default: 'terminal',
    }),
  },
  examples: [
    ['$0 agent status', 'All projects'],
    ['$0 agent status quiet-river-12345678', 'Every difference of one project, and how to resolve it'],
  ],
  notes: STATE_CODES,
} as const satisfies Command

export const historyCommand = {
  command: 'history [projects..]',
  summary: 'Show what the agent changed, with time, commit and impact',
  positionals: PROJECTS,
  flags: DATA_FLAG,
  examples: [['$0 agent history quiet-river-12345678', 'What the agent changed in one project']],
  notes: `Reads the journals in the data folder, so the agent need not be running.

Exit codes:
  0   shown
  1   wrong usage`,
} as const satisfies Command

export const reconcileCommand = {
  command: 'reconcile [projects..]',
  summary: 'Read projects now, and retry what was rejected or failed',
  positionals: PROJECTS,
  flags: {
    ...CHOICE_FLAGS,
    wait: toggle('', 'Wait until the projects have been read, then exit with the exit code of `agent status`'),
    accept: text('', 'Accept the rewritten history of the branch; the value must be its current commit'),
  },
  examples: [['$0 agent reconcile quiet-river-12345678 --wait', 'Read one project now, and show its state']],
  notes: `Restart windows, required consents and suspensions still apply.

${STATE_CODES}
  Without --wait, 0 means that the agent has received the request.`,
} as const satisfies Command

export const suspendCommand = {
  command: 'suspend [projects..]',
  summary: 'Stop applying changes to projects for a while; the agent still reads and reports them',
  positionals: PROJECTS,
  flags: {
    ...CHOICE_FLAGS,
    for: text('', 'How long to suspend, at most 30d', { demandOption: true }),
    reason: text('', 'Reason, which is shown with the suspension', { demandOption: true }),
  },
  examples: [['$0 agent suspend --all --for 2h --reason "load test"', 'All projects']],
  notes: `Exit codes:
  0   suspended
  1   wrong usage, or the agent cannot be reached`,
} as const satisfies Command

export const resumeCommand = {
  command: 'resume [projects..]',
  summary: 'End a suspension',
  positionals: PROJECTS,
  flags: CHOICE_FLAGS,
  examples: [['$0 agent resume --all', 'All projects']],
  notes: `Exit codes:
  0   resumed
  1   wrong usage, or the agent cannot be reached`,
} as const satisfies Command

export const agentCommand: Command = {
  command: 'agent',
  summary: 'Keep projects as declared, continuously',
  flags: {},
  examples: [
    ['$0 agent run --repo https://github.com/acme/db', 'Follow a repository'],
    ['$0 agent status', 'The state of each project'],
  ],
  notes: 'Guide: docs/agent.md',
}

export type AgentRunFlags = ValuesOf<typeof runCommand>
export type StatusFlags = ValuesOf<typeof statusCommand>
export type HistoryFlags = ValuesOf<typeof historyCommand>
export type ReconcileFlags = ValuesOf<typeof reconcileCommand>
export type SuspendFlags = ValuesOf<typeof suspendCommand>
export type ResumeFlags = ValuesOf<typeof resumeCommand>
