import type { Command, ValuesOf } from '../command.ts'
import { text, toggle } from '../flag.ts'
import { API_FLAGS } from '../flags.ts'

export const initCommand = {
  command: 'init',
  summary: 'Start here: write first manifests, editor settings and workflows',
  flags: {
    project: text('', 'Project id or name (default: every project of the key)'),
    'no-editor': toggle('', 'No editor settings (.vscode/)'),
    'no-workflows': toggle('', 'No workflows (.github/workflows/)'),
    ...API_FLAGS,
  },
  examples: [
    ['$0 init', 'With a key: import every project'],
    ['$0 init --project quiet-river-12345678', 'Without a key: a manifest to fill in'],
    ['$0 init --sandbox --seed seed.yaml', 'Without an account'],
  ],
  notes: `Existing files are not overwritten; .vscode/settings.json only gets missing settings.

Exit codes:
  0   done
  1   wrong input, or there is neither a key nor a project id`,
} as const satisfies Command

export type InitFlags = ValuesOf<typeof initCommand>
