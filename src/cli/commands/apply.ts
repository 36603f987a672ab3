import type { Command, ValuesOf } from '../command.ts'
import { number, text, toggle } from '../flag.ts'
import {
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
    base: text('Manifests:', 'With --introduced, the git ref to compare the manifests with', { value: 'REF' }),
    'auto-approve': toggle('Consent:', 'Do not ask for confirmation', { alias: 'yes' }),
    allow: text('Consent:', 'Impacts to allow: disconnect, move, replace, delete; none disallows restarts too', {
      value: 'LIST',
      array: true,
    }),
    now: toggle('Consent:', 'Also run disruptive steps outside their restart windows'),
    'keep-going': toggle('Consent:', 'If some projects have problems, apply the others'),
    'max-restarts': number('Consent:', 'Apply nothing if more computes than this may restart'),
    'max-failures': number('Consent:', 'Start no further steps once more than this many have failed'),
    ...TIMEOUT_FLAG,
    journal: text('Output:', 'Append each event to FILE before acting on it', { value: 'FILE' }),
    html: { ...HTML_FLAG.html, describe: 'Also write an HTML page to FILE, even if the run fails or is interrupted' },
    format: formatFlag('Output format; json prints one event per line', ['terminal', 'json']),
    ...PLAN_VIEW_FLAGS,
    ...CONNECTION_FLAGS,
  },
  examples: [
    ['$0 apply', 'Show the plan, ask, and apply it'],
    ['$0 apply plan.json', 'Apply a plan that plan --out saved'],
    ['$0 apply --auto-approve --allow delete', 'Apply without a prompt, and allow deletes'],
    ['$0 apply --base origin/main --introduced', 'Apply only what this git branch introduces'],
    ['$0 apply --html apply.html', 'Also write a page with the outcome'],
    ['$0 apply --sandbox=seed.yaml', 'Try the command without an account'],
  ],
  notes: `After Ctrl-C, running steps complete and no others start; a second Ctrl-C stops immediately. To
continue, run the command again. If CI is set, apply cannot ask, so --auto-approve is required.

Exit codes:
  0   done, or nothing to do
  ${EXIT_ERROR},
      or everything is refused or denied
  3   not everything is as declared: a step failed or was not allowed, or a project was left out
  4   the saved plan is stale or was edited, so nothing was changed
  5   done, except for steps that wait for their restart window
  130 interrupted`,
} as const satisfies Command

export type ApplyFlags = ValuesOf<typeof applyCommand>
