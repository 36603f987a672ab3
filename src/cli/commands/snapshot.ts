import { defineCommand } from '../command.ts'
import { API_ENVIRONMENT, API_FLAGS } from '../flags.ts'
import { PATHS } from './paths.ts'

export const snapshotCommand = defineCommand({
  command: 'snapshot [paths..]',
  summary: 'Save a snapshot of the live projects, to plan offline',
  positionals: PATHS,
  flags: {
    out: { type: 'string', requiresArg: true, demandOption: true, describe: 'File to write' },
    project: {
      type: 'string',
      array: true,
      requiresArg: true,
      describe: 'Projects whose id or name matches this glob, declared or not; repeatable',
    },
    ...API_FLAGS,
  },
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
