import type { Command, ValuesOf } from '../command.ts'
import { duration, number, text, toggle } from '../flag.ts'
import { CONNECTION_FLAGS, formatFlag, PATHS, REVIEW_FLAGS, TIMEOUT_FLAG } from '../flags.ts'

const DATA_FLAG = {
  data: text('Agent:', 'Data folder, which only one agent can use at a time', {
    value: 'DIR',
    default: '.espalier/agent',
  }),
} as const

const CHOICE_FLAGS = { ...DATA_FLAG, all: toggle('', "Select all of the agent's projects") } as const

const PROJECTS = { projects: { describe: 'Ids or names of projects', array: true } } as const

const STATE_CODES = `Exit codes:
  0   every project is Synced
  1   wrong usage, or the agent cannot be reached
  2   a project is OutOfSync, Progressing or Unknown
  3   a project is Blocked, Failing, Invalid or Suspended
  5   everything is done, except for steps that wait for their restart window`

export const runCommand = {
  command: 'run [paths..]',
  summary: 'Keep projects as their manifests declare them, until stopped by SIGTERM',
  positionals: {
    paths: {
      ...PATHS.paths,
      describe: 'Files, directories or globs (default: espalier.yaml, else espalier/)',
    },
  },
  flags: {
    repo: text('Manifests:', 'URL or path of the git repository that contains the manifests', {
      value: 'URL',
    }),
    ref: text('Manifests:', 'Branch or tag of the repository to follow', {
      value: 'NAME',
      default: 'main',
    }),
    'git-interval': duration('Manifests:', 'How often to fetch the repository or read the manifests', {
      default: '30s',
    }),
    'on-git': text('Decisions:', 'What to do when a commit changes a manifest', {
      choices: ['apply', 'report'],
      default: 'apply',
    }),
    'on-drift': text('Decisions:', 'What to do when someone changes a live project', {
      choices: ['report', 'revert'],
      default: 'report',
    }),
    allow: text('Decisions:', 'Impacts to allow: disconnect, move, replace, delete; none disallows restarts too', {
      value: 'LIST',
      array: true,
    }),
    'max-restarts': number('Decisions:', 'Limit the restarts of each project in 24 hours, as a policy'),
    // There is no `--override`, because an override is for a single run and states a reason for it.
    policy: REVIEW_FLAGS.policy,
    interval: duration('Agent:', 'How often to read each project; at least 60s', { default: '5m' }),
    once: toggle('Agent:', 'Process each project once, then exit with the exit code of `agent status`'),
    ...DATA_FLAG,
    timeout: { ...TIMEOUT_FLAG.timeout, group: 'Agent:' },
    keys: text('Agent:', 'YAML file that lists several API keys, each with its projects', { value: 'FILE' }),
    listen: text('Serving:', 'Address on which to serve the page and the API', {
      value: 'ADDRESS',
      default: '127.0.0.1:7790',
    }),
    'listen-public': text('Serving:', 'Address for only health checks, metrics and the git webhook', {
      value: 'ADDRESS',
    }),
    'webhook-secret-file': text('Serving:', 'File that contains the secret for POST /hooks/git', { value: 'FILE' }),
    notify: text('Serving:', 'URL to notify of state changes, in the CloudEvents format', { value: 'URL' }),
    'notify-secret-file': text('Serving:', 'File with the Standard Webhooks secret for notifications', {
      value: 'FILE',
    }),
    ...CONNECTION_FLAGS,
  },
  examples: [
    ['$0 agent run --repo https://github.com/acme/db', 'Follow a repository'],
    ['$0 agent run /etc/espalier', 'Follow a folder, such as a mounted ConfigMap'],
    ['$0 agent run --repo . --sandbox=seed.yaml', 'Try the command without an account'],
    ['$0 agent run --repo . --once', 'Process each project once, as in a cron job'],
  ],
  notes: `After SIGTERM or Ctrl-C, running steps complete first. A second signal stops the agent immediately.

${STATE_CODES}
  Without --once, 0 if the agent was stopped, and 1 if it cannot start or continue.`,
} as const satisfies Command

export const statusCommand = {
  command: 'status [projects..]',
  summary: 'Show the state of each project. For projects that are named, also show every difference',
  positionals: PROJECTS,
  flags: {
    ...DATA_FLAG,
    format: formatFlag('Output format; json is the response of GET /api/v1/projects', ['terminal', 'json']),
  },
  examples: [
    ['$0 agent status', 'All projects'],
    ['$0 agent status quiet-river-12345678', 'Every difference of one project, and how to resolve it'],
  ],
  notes: STATE_CODES,
} as const satisfies Command

export const historyCommand = {
  command: 'history [projects..]',
  summary: 'Show what the agent changed, and the time, commit and impact of each change',
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
  summary: 'Read projects immediately, retry changes that were rejected or failed, and show the state',
  positionals: PROJECTS,
  flags: {
    ...CHOICE_FLAGS,
    accept: text('', 'Continue after a force push, if the followed branch is now at this commit', { value: 'COMMIT' }),
  },
  examples: [['$0 agent reconcile quiet-river-12345678', 'Read one project immediately, and show its state']],
  notes: `Restart windows, required consents and suspensions still apply.

The command waits until the projects have been read and their steps have ended.

${STATE_CODES}`,
} as const satisfies Command

export const suspendCommand = {
  command: 'suspend [projects..]',
  summary: 'Stop applying changes to projects for a while; the agent still reads and reports them',
  positionals: PROJECTS,
  flags: {
    ...CHOICE_FLAGS,
    for: text('', 'How long to suspend the projects, at most 30d', { value: 'TIME', demandOption: true }),
    reason: text('', 'Reason for the suspension, which agent status shows', { value: 'TEXT', demandOption: true }),
  },
  examples: [['$0 agent suspend --all --for 2h --reason "load test"', 'All projects']],
  notes: `Exit codes:
  0   suspended
  1   wrong usage, or the agent cannot be reached`,
} as const satisfies Command

export const resumeCommand = {
  command: 'resume [projects..]',
  summary: 'End a suspension, so that changes are applied again',
  positionals: PROJECTS,
  flags: CHOICE_FLAGS,
  examples: [['$0 agent resume --all', 'All projects']],
  notes: `Exit codes:
  0   resumed
  1   wrong usage, or the agent cannot be reached`,
} as const satisfies Command

export const agentCommand: Command = {
  command: 'agent',
  summary: 'Continuously keep projects as their manifests declare them',
  flags: {},
  examples: [
    ['$0 agent run --repo https://github.com/acme/db', 'Follow a repository'],
    ['$0 agent status', 'Show the state of each project'],
  ],
  notes: 'Guide: docs/agent.md',
}

export type AgentRunFlags = ValuesOf<typeof runCommand>
export type StatusFlags = ValuesOf<typeof statusCommand>
export type HistoryFlags = ValuesOf<typeof historyCommand>
export type ReconcileFlags = ValuesOf<typeof reconcileCommand>
export type SuspendFlags = ValuesOf<typeof suspendCommand>
export type ResumeFlags = ValuesOf<typeof resumeCommand>
