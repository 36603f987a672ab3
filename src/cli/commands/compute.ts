import type { Command, ValuesOf } from '../command.ts'
import { duration, text, toggle } from '../flag.ts'
import { CONNECTION_FLAGS } from '../flags.ts'

const SUMMARIES = {
  start: 'Wake idle computes',
  suspend: 'Suspend computes: existing connections end, and the next connection wakes them',
  restart: 'Restart active computes: existing connections drop',
  delete: 'Delete computes: their hostnames are lost permanently',
} as const

export type ComputeAction = keyof typeof SUMMARIES

export const COMPUTE_ACTIONS = Object.keys(SUMMARIES) as readonly ComputeAction[]

export const actionCommand = (action: ComputeAction) =>
  ({
    command: `${action} <refs..>`,
    summary: SUMMARIES[action],
    positionals: {
      refs: { describe: 'Computes: an id, BRANCH for its primary, or BRANCH/REPLICA', array: true },
    },
    flags: {
      project: text('', 'Project id or name; may be omitted if the manifests declare only one project'),
      now: toggle('', 'Act even outside restart windows'),
      'auto-approve': toggle('', 'Do not ask for confirmation', { alias: 'yes' }),
      'operation-timeout': duration('', 'How long to wait for the operations of a compute', { default: '10m' }),
      'lock-timeout': duration('', 'How long to wait for a locked project', { default: '10m' }),
      ...CONNECTION_FLAGS,
    },
    examples: [[`$0 compute ${action} staging`, 'The primary of staging']],
    notes: `Shows the effect on connections, asks for confirmation, and waits for the operations to end.

The manifests in the current folder are enforced as in apply: no flag overrides \`protect: true\`,
and restart windows apply unless --now is given.

Exit codes:
  0   done, or nothing to do
  1   wrong input, declined, rejected by a protection, or failed
  5   outside the restart window: nothing was changed`,
  }) as const satisfies Command

export const computeCommand: Command = {
  command: 'compute',
  summary: 'Start, suspend, restart or delete single computes',
  flags: {},
  examples: [['$0 compute start staging', 'Wake the primary of staging']],
  notes: 'The next apply restores what the manifests declare. For a permanent change, edit the manifest.',
}

export type ComputeFlags = ValuesOf<ReturnType<typeof actionCommand>>
