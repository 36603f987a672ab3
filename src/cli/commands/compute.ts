import type { Command } from '../command.ts'
import { defineCommand } from '../command.ts'
import { API_ENVIRONMENT, API_FLAGS } from '../flags.ts'
import type { ComputeCommand } from '../runs/compute.ts'

const FLAGS = {
  project: {
    type: 'string',
    requiresArg: true,
    describe: 'Project id or name (default: the only one of the manifests)',
  },
  now: { type: 'boolean', describe: 'Act outside restart windows too' },
  'auto-approve': { type: 'boolean', alias: 'yes', describe: 'Do not ask for confirmation' },
  'operation-timeout': {
    type: 'string',
    requiresArg: true,
    default: '10m',
    describe: 'How long to wait for its operations',
  },
  'lock-timeout': {
    type: 'string',
    requiresArg: true,
    default: '10m',
    describe: 'How long to wait for a locked project',
  },
  ...API_FLAGS,
} as const

const SUMMARIES: Readonly<Record<ComputeCommand, string>> = {
  start: 'Wake idle computes',
  suspend: 'Suspend computes: existing connections end, the next one wakes them',
  restart: 'Restart active computes: existing connections drop',
  delete: 'Delete computes: their hosts are lost for good',
}

const subcommand = (name: ComputeCommand): Command =>
  defineCommand({
    command: `${name} <refs..>`,
    summary: SUMMARIES[name],
    positionals: {
      refs: { describe: 'Computes: an id, BRANCH for its primary, or BRANCH/REPLICA', array: true },
    },
    flags: FLAGS,
    examples: [[`$0 compute ${name} staging`, 'The primary of staging']],
    notes: `Shows the effect on connections, asks for confirmation, and waits.

The manifests of the current folder count as they do for apply: \`protect: true\` beats every flag,
and a restart window holds unless --now is given.

Exit codes:
  0   done, or nothing was to be done
  1   wrong input, declined, refused by protection, or it failed
  5   outside of a restart window: nothing was changed

${API_ENVIRONMENT}`,
    run: async (argv, io) => (await import('../runs/compute.ts')).runCompute(name, argv, io),
  })

export const computeCommand: Command = {
  command: 'compute',
  summary: 'Start, suspend, restart or delete single computes',
  flags: {},
  subcommands: (['start', 'suspend', 'restart', 'delete'] as const).map(subcommand),
  examples: [['$0 compute start staging', 'Wake the primary of staging']],
  notes: 'The next apply restores what the manifests declare. For a permanent change, edit the manifest.',
}
