import { defineCommand, type ValuesOf } from '../command.ts'
import { text } from '../flag.ts'
import { API_ENVIRONMENT, API_FLAGS } from '../flags.ts'
import { PATHS } from './paths.ts'

const FLAGS = {
  out: text('', 'File to write', { demandOption: true }),
  project: text('', 'Projects whose id or name matches this glob, declared or not; repeatable', { array: true }),
  ...API_FLAGS,
} as const

export type SnapshotFlags = ValuesOf<typeof FLAGS, 'paths'>

export const snapshotCommand = defineCommand({
  command: 'snapshot [paths..]',
  summary: 'Save a snapshot of the live projects, to plan offline',
  positionals: PATHS,
  flags: FLAGS,
  examples: [
    ['$0 snapshot --out live.json', 'The projects of the manifests here'],
    ['$0 plan --live live.json', 'Then: no network, no key'],
  ],
  notes: `Exit codes:
  0   saved
  1   wrong input, or a project that is not there

${API_ENVIRONMENT}`,
  run: async (argv, io) => (await import('../runs/snapshot.ts')).runSnapshot(argv, io),
})
