import type { Command, ValuesOf } from '../command.ts'
import { text, toggle } from '../flag.ts'
import {
  CONNECTION_FLAGS,
  EXIT_ERROR,
  formatFlag,
  HTML_FLAG,
  PATHS,
  PLAN_VIEW_FLAGS,
  PLANNING_FLAGS,
} from '../flags.ts'

export const planCommand = {
  command: 'plan [paths..]',
  summary: 'Show what would change and how connections would be affected, without changing anything',
  positionals: PATHS,
  flags: {
    format: formatFlag('Output format', ['terminal', 'json', 'markdown']),
    out: text('Output:', 'Save the plan to FILE, to be applied with espalier apply FILE', { value: 'FILE' }),
    ...HTML_FLAG,
    live: text(
      'Control API:',
      'Plan against a snapshot file instead of the live projects, which needs no network access and no key',
      { value: 'FILE' },
    ),
    base: text(
      'Output:',
      'Show changes that the manifests introduce since this git ref separately from existing drift',
      { value: 'REF' },
    ),
    rehearse: toggle('Output:', 'Also apply the plan to a copy of the projects in a sandbox that injects faults'),
    'detailed-exitcode': toggle('Output:', 'Exit with 2 if there are changes'),
    ...PLAN_VIEW_FLAGS,
    ...PLANNING_FLAGS,
    ...CONNECTION_FLAGS,
  },
  examples: [
    ['$0 plan', 'Compare the manifests with the live projects'],
    ['$0 plan --out plan.json', 'Save the plan so that exactly this plan can be applied later'],
    ['$0 plan --detailed-exitcode', 'For scripts: exit with 0 if there are no changes, and with 2 if there are'],
    ['$0 plan --live live.json', 'Plan offline, from a file that espalier snapshot wrote'],
    ['$0 plan --base origin/main', 'Show the changes on this git branch separately from existing drift'],
    ['$0 plan --base origin/main --introduced', 'Plan only the changes on this git branch'],
    ["$0 plan --project 'shop*' --branch main", 'Plan only part of the fleet'],
    ['$0 plan --rehearse', 'Also try the plan on a copy in a sandbox'],
    ['$0 plan --format markdown', 'Print the plan as text for a pull request'],
    ['$0 plan --html plan.html', 'Also write a page to review in a browser'],
    ['$0 plan --sandbox=seed.yaml', 'Try the command without an account'],
  ],
  notes: `Exit codes:
  0   planned; with --detailed-exitcode, there is also nothing to do
  ${EXIT_ERROR},
      or a policy denies a change, or a project cannot be planned, in which case the
      other projects are shown
  2   with --detailed-exitcode, there are changes`,
} as const satisfies Command

export type PlanFlags = ValuesOf<typeof planCommand>
