import type { Command, ValuesOf } from '../command.ts'
import { text } from '../flag.ts'
import { CONNECTION_FLAGS, PATHS } from '../flags.ts'

export const snapshotCommand = {
  command: 'snapshot [paths..]',
  summary: 'Save a snapshot of the live projects for planning offline',
  positionals: PATHS,
  flags: {
    out: text('', 'File to write', { value: 'FILE', demandOption: true }),
    project: text('', 'Projects whose id or name matches this glob, declared or not; repeatable', {
      value: 'GLOB',
      array: true,
    }),
    ...CONNECTION_FLAGS,
  },
  examples: [
    ['$0 snapshot --out live.json', 'Save all declared projects'],
    ['$0 plan --live live.json', 'Plan from that file, without network access or a key'],
  ],
  notes: `Exit codes:
  0   saved
  1   wrong input, or a project does not exist`,
} as const satisfies Command

export type SnapshotFlags = ValuesOf<typeof snapshotCommand>
