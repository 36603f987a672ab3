import { type Command, defineCommand, type ValuesOf } from '../command.ts'
import { text, toggle } from '../flag.ts'
import { API_ENVIRONMENT, API_FLAGS } from '../flags.ts'

const FLAGS = {
  project: text('', 'Project id or name (default: the only one of the manifests)'),
  now: toggle('', 'Act outside restart windows too'),
  'auto-approve': toggle('', 'Do not ask for confirmation', { alias: 'yes' }),
  'operation-timeout': text('', 'How long to wait for its operations', { default: '10m' }),
  'lock-timeout': text('', 'How long to wait for a locked project', { default: '10m' }),
  ...API_FLAGS,
} as const

export type ComputeFlags = ValuesOf<typeof FLAGS, 'refs'>

const SUMMARIES = {
  start: 'Wake idle computes',
  suspend: 'Suspend computes: existing connections end, the next one wakes them',
  restart: 'Restart active computes: existing connections drop',
  delete: 'Delete computes: their hosts are lost for good',
} as const

export type ComputeCommand = keyof typeof SUMMARIES

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
  0   done, or nothing to do
  1   wrong input, declined, refused by protection, or it failed
  5   outside of a restart window: nothing was changed

${API_ENVIRONMENT}`,
    run: async (argv, io) => (await import('../runs/compute.ts')).runCompute(name, argv, io),
  })

export const computeCommand: Command = {
  command: 'compute',
  summary: 'Start, suspend, restart or delete single computes',
  flags: {},
  subcommands: (Object.keys(SUMMARIES) as ComputeCommand[]).map(subcommand),
  examples: [['$0 compute start staging', 'Wake the primary of staging']],
  notes: 'The next apply restores what the manifests declare. For a permanent change, edit the manifest.',
}
