import type { Command, ValuesOf } from '../command.ts'
import { text, toggle } from '../flag.ts'
import { API_FLAGS, EXIT_ERROR, PATHS, PLAN_VIEW_FLAGS, PLANNING_FLAGS } from '../flags.ts'

export const planCommand = {
  command: 'plan [paths..]',
  aliases: ['diff'],
  summary: 'Show what would change, and the effect on connections; changes nothing',
  positionals: PATHS,
  flags: {
    format: text('Output:', 'Output format', {
      choices: ['terminal', 'json', 'markdown', 'html'],
      default: 'terminal',
    }),
    out: text('Output:', 'Save the plan to FILE, for espalier apply FILE; with --format html, write the page to FILE'),
    live: text('Control API:', 'Plan against a snapshot file instead of the live projects: no network, no key'),
    base: text('Output:', 'Separate changes introduced since this git ref from existing drift'),
    rehearse: toggle('Output:', 'Apply the plan to a sandbox copy of the projects, with injected faults'),
    'detailed-exitcode': toggle('Output:', 'Exit with 2 if there are changes'),
    'no-estimate': toggle('Output:', 'Do not read past operations to estimate how long apply takes'),
    ...PLAN_VIEW_FLAGS,
    ...PLANNING_FLAGS,
    ...API_FLAGS,
  },
  examples: [
    ['$0 plan', 'Compare the manifests with the live projects'],
    ['$0 plan --out plan.json', 'Save the plan, to apply it unchanged'],
    ['$0 plan --detailed-exitcode', 'For a script: 0 no changes, 2 changes'],
    ['$0 plan --live live.json', 'Offline, from a file that espalier snapshot wrote'],
    ['$0 plan --base origin/main', 'Changes of this git branch, separate from existing drift'],
    ['$0 plan --base origin/main --only introduced', 'Only the changes of this git branch'],
    ["$0 plan --project 'shop*' --branch main", 'Part of the fleet'],
    ['$0 plan --rehearse', 'Also apply it to a sandbox copy'],
    ['$0 plan --format markdown', 'For a pull request'],
    ['$0 plan --format html --out plan.html', 'A page to review in a browser'],
    ['$0 plan --shard 2/5 --out 2.json', 'The second of five jobs; see report merge'],
    ['$0 plan --sandbox --seed seed.yaml', 'Without an account'],
  ],
  notes: `Exit codes:
  0   planned (with --detailed-exitcode: and there is nothing to do)
  ${EXIT_ERROR},
      or a project that cannot be planned: the others are shown
  2   with --detailed-exitcode: there are changes`,
} as const satisfies Command

export type PlanFlags = ValuesOf<typeof planCommand>
