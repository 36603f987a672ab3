import type { Command, ValuesOf } from '../command.ts'
import { toggle } from '../flag.ts'
import { formatFlag, HTML_FLAG, PLAN_VIEW_FLAGS } from '../flags.ts'

export const showCommand = {
  command: 'show <ref>',
  summary: 'Show a saved plan or resolved manifests, without network access or a key',
  positionals: { ref: { describe: 'A file that plan --out wrote. With --resolved, a manifest, directory or glob' } },
  flags: {
    format: formatFlag('Output format. With --resolved, only terminal (which prints YAML) and json are allowed', [
      'terminal',
      'json',
      'markdown',
    ]),
    ...HTML_FLAG,
    resolved: toggle(
      'Manifests:',
      'Show manifests with defaults, profiles and shared files merged, and where each value comes from',
    ),
    ...PLAN_VIEW_FLAGS,
  },
  examples: [
    ['$0 show plan.json', 'Show what espalier apply plan.json would do'],
    ['$0 show plan.json --html plan.html', 'Also write the plan as a page for any browser'],
    ['$0 show --resolved fleet/', 'Show resolved manifests, with the file that each value comes from'],
  ],
  notes: `Exit codes:
  0   shown
  1   not a saved plan, or a problem in the manifests
  4   the plan was edited after it was saved`,
} as const satisfies Command

export type ShowFlags = ValuesOf<typeof showCommand>
