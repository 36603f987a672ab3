import type { Command, ValuesOf } from '../command.ts'
import { toggle } from '../flag.ts'
import { CONNECTION_FLAGS, ONE_PROJECT, TIMEOUT_FLAG } from '../flags.ts'

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
      project: ONE_PROJECT,
      now: toggle('', 'Interrupt computes even while their restart windows are closed'),
      'auto-approve': toggle('', 'Do not ask for confirmation', { alias: 'yes' }),
      ...TIMEOUT_FLAG,
      ...CONNECTION_FLAGS,
    },
    examples: [[`$0 compute ${action} staging`, 'Refer to the primary on staging by its branch']],
    notes: `Shows the effect on connections, asks for confirmation, and waits for the operations to end.

The manifests in the current folder are respected in the same way as by apply: no flag overrides
\`protect: true\`, and restart windows apply unless --now is given.

Exit codes:
  0   done, or nothing to do
  1   wrong input, declined, rejected because of a protection, or failed
  5   nothing was changed, because a restart window is closed`,
  }) as const satisfies Command

export const computeCommand: Command = {
  command: 'compute',
  summary: 'Start, suspend, restart or delete individual computes',
  flags: {},
  examples: [['$0 compute start staging', 'Wake the primary on staging']],
  notes: 'The next apply restores what the manifests declare. For a permanent change, edit the manifest.',
}

export type ComputeFlags = ValuesOf<ReturnType<typeof actionCommand>>
