import type { Command, ValuesOf } from '../command.ts'
import { number, text, toggle } from '../flag.ts'
import {
  BUDGET_FLAGS,
  CONNECTION_FLAGS,
  EXIT_ERROR,
  formatFlag,
  HTML_FLAG,
  PATHS,
  PLAN_VIEW_FLAGS,
  PLANNING_FLAGS,
  TIMEOUT_FLAG,
} from '../flags.ts'

export const applyCommand = {
  command: 'apply [paths..]',
  summary: 'Make a plan, ask for confirmation, and apply it; or apply a saved plan',
  positionals: {
    paths: {
      ...PATHS.paths,
      describe: `${PATHS.paths.describe}; or a saved plan, FILE.json, which other manifests may follow`,
    },
  },
  flags: {
    ...PLANNING_FLAGS,
    base: text('Manifests:', 'With --introduced, the git ref to compare the manifests with'),
    'auto-approve': toggle('Consent:', 'Do not ask for confirmation', { alias: 'yes' }),
    allow: text(
      'Consent:',
      'Impacts to allow, separated by commas: disconnect, move, replace, delete. Restarts are allowed by default; use none to disallow them',
      { array: true },
    ),
    now: toggle('Consent:', 'Also run disruptive steps outside their restart windows, and record this in the events'),
    'keep-going': toggle('Consent:', 'If some projects have problems, apply the others (default: apply nothing)'),
    ...BUDGET_FLAGS,
    'max-failures': number('Consent:', 'Start no further steps once more than this many have failed'),
    ...TIMEOUT_FLAG,
    journal: text('Output:', 'Append each event to FILE before acting on it'),
    html: { ...HTML_FLAG.html, describe: 'Also write an HTML page to FILE, even if the run fails or is interrupted' },
    format: formatFlag('Output format; json prints one event per line on stdout, and everything else on stderr', [
      'terminal',
      'json',
    ]),
    ...PLAN_VIEW_FLAGS,
    ...CONNECTION_FLAGS,
  },
  examples: [
    ['$0 apply', 'Show the plan, ask for confirmation, and apply it'],
    ['$0 apply plan.json', 'Apply exactly the plan that plan --out saved'],
    [
      '$0 apply --auto-approve --allow delete --max-deletes 2',
      'Apply without a prompt, and delete at most two computes',
    ],
    ['$0 apply --base origin/main --introduced', 'Apply what this git branch introduces, but leave drift unchanged'],
    ['$0 apply --auto-approve --format json', 'Print events in a machine-readable format'],
    ['$0 apply --html apply.html', 'Also write a page that shows what became of each step'],
    ['$0 apply --sandbox=seed.yaml', 'Try the command without an account'],
  ],
  notes: `Press Ctrl-C once to start no new steps and wait for running steps to complete. Press it twice to
stop immediately. In both cases, there is no state to repair: to continue, run the command again.
If the environment variable CI is set, apply cannot ask, so --auto-approve is required.

Exit codes:
  0   done, or nothing to do
  ${EXIT_ERROR}
  3   applied in part: a step failed or was not allowed, the projects do not match
      their manifests yet, or a project was left out
  4   the saved plan is stale or was edited, so nothing was changed
  5   done, except for steps that wait for their restart window
  130 interrupted`,
} as const satisfies Command

export type ApplyFlags = ValuesOf<typeof applyCommand>
