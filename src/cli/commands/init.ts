import type { Command, ValuesOf } from '../command.ts'
import { text, toggle } from '../flag.ts'
import { CONNECTION_FLAGS } from '../flags.ts'

export const initCommand = {
  command: 'init',
  summary: 'Start here: write your first manifests, editor settings, workflows and policies',
  flags: {
    project: text(
      '',
      'Only projects whose id or name matches this glob; repeatable (default: every project that the key can access)',
      { value: 'GLOB', array: true },
    ),
    'manifests-only': toggle(
      '',
      'Write neither editor settings (.vscode/) nor workflows (.github/workflows/) with their policy file',
    ),
    ...CONNECTION_FLAGS,
  },
  examples: [
    ['$0 init', 'With an API key, import every project'],
    ['$0 init --project quiet-river-12345678', 'Write a manifest to fill in (needs no API key)'],
    ['$0 init --sandbox=seed.yaml', 'Try the command without an account'],
  ],
  notes: `Existing files are not overwritten, but settings that are missing from .vscode/settings.json are added.

Exit codes:
  0   done
  1   wrong input, or there is neither an API key nor a project id`,
} as const satisfies Command

export type InitFlags = ValuesOf<typeof initCommand>
