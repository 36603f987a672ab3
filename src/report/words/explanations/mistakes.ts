/** For some codes: a mistake that causes it, and the correction. */
import type { PlanCode } from '../../../model/index.ts'

export interface Mistake {
  readonly mistake: string
  readonly correction: string
}

const pair = (mistake: string, correction: string): Mistake => ({ mistake, correction })

const branches = (...lines: readonly string[]): string => ['branches:', ...lines.map((line) => `  ${line}`)].join('\n')

/**
 * Manifests, without `version` and `project`. The project has the branches main (primary ep-main-a1b2c3, replica bi),
 * staging (primary ep-staging-d4e5f6) and spare (empty), and two called feature.
 */
export const OF_PLANS: Partial<Record<PlanCode, Mistake>> = {
  E_BRANCH_UNKNOWN: pair(branches('mian: { primary: {} }'), branches('main: { primary: {} }')),
  E_BRANCH_AMBIGUOUS: pair(branches('feature: { primary: {} }'), branches('br-feature-1: { primary: {} }')),
  E_PIN_UNKNOWN: pair(
    branches('main: { primary: { id: ep-nowhere-a1b2c3 } }'),
    branches('main: { primary: { id: ep-main-a1b2c3 } }'),
  ),
  E_PRIMARY_TAKEN: pair(
    branches('main: { primary: { id: ep-staging-d4e5f6 } }'),
    branches('main: { primary: { id: ep-staging-d4e5f6 } }', 'spare: { primary: { id: ep-main-a1b2c3 } }'),
  ),
  E_MOVE_CYCLE: pair(
    branches('main: { primary: { id: ep-staging-d4e5f6 } }', 'staging: { primary: { id: ep-main-a1b2c3 } }'),
    `parkOn: spare\n${branches('main: { primary: { id: ep-staging-d4e5f6 } }', 'staging: { primary: { id: ep-main-a1b2c3 } }')}`,
  ),
  E_PARK_ON: pair(
    `parkOn: main\n${branches('main: { primary: { id: ep-staging-d4e5f6 } }', 'staging: { primary: { id: ep-main-a1b2c3 } }')}`,
    `parkOn: spare\n${branches('main: { primary: { id: ep-staging-d4e5f6 } }', 'staging: { primary: { id: ep-main-a1b2c3 } }')}`,
  ),
  W_RENAMED: pair(
    branches('main: { primary: {}, replicas: { olap: { size: 1 } } }'),
    branches('main: { primary: {}, replicas: { olap: { renamedFrom: bi, size: 1 } } }'),
  ),
  W_RULE_SHADOWED: pair(
    'rules:\n  - match: "*"\n    primary: {}\n  - match: spare\n    primary: { size: 2 }',
    'rules:\n  - match: spare\n    primary: { size: 2 }\n  - match: "*"\n    primary: {}',
  ),
  W_RULE_UNUSED: pair('rules:\n  - match: pr-*\n    primary: {}', 'rules:\n  - match: spare\n    primary: {}'),
}

/** Command lines, settings and files. */
export const OF_RUNS: Readonly<Record<string, Mistake>> = {
  E_PROJECT_UNKNOWN: pair('project: quiet-rivr-12345678', 'project: quiet-river-12345678'),
  E_BASE_URL: pair(
    'espalier plan --base-url http://console.neon.tech/api/v2',
    'espalier plan --base-url https://console.neon.tech/api/v2',
  ),
  E_BUDGET: pair(
    'espalier apply --auto-approve --max-restarts 1   # the plan restarts 2 computes',
    'espalier apply --auto-approve --max-restarts 2',
  ),
  E_COMMENT: pair('permissions: { contents: read }', 'permissions: { contents: read, pull-requests: write }'),
  E_CONSENT: pair('espalier apply < /dev/null', 'espalier apply --auto-approve'),
  E_DISABLED: pair(
    'espalier compute start main   # the manifest says disabled: true',
    branches('main: { primary: { disabled: false } }'),
  ),
  E_FAULTS: pair('- { on: request, effect: lock }', '- { on: request, effect: { kind: lock } }'),
  E_FORK_CHECKOUT: pair(
    'on: pull_request_target\nsteps:\n  - uses: actions/checkout@v4\n    with: { ref: refs/pull/12/head }',
    'on: pull_request_target\nsteps:\n  - uses: actions/checkout@v4',
  ),
  E_TIER: pair('espalier plan --tier gold', 'espalier plan --tier scale'),
  E_GIT: pair('espalier plan --base origin/mian', 'git fetch origin && espalier plan --base origin/main'),
  E_IDLE: pair('espalier compute restart staging   # staging is idle', 'espalier compute start staging'),
  E_INPUT: pair('with: { command: merge }', 'with: { command: merge, plan-file: "plans/*.json" }'),
  E_JOURNAL: pair('espalier apply --journal /proc/apply.jsonl', 'espalier apply --journal apply.jsonl'),
  E_KEY: pair('unset ESPALIER_API_KEY; espalier plan', 'ESPALIER_API_KEY="$(cat key.txt)" espalier plan'),
  E_MERGE: pair('espalier report merge 1.json   # of --shard 1/2', 'espalier report merge 1.json 2.json'),
  E_NO_COMPUTE: pair('espalier compute start mian', 'espalier compute start main'),
  E_NO_SANDBOX: pair('espalier sandbox connect main', 'espalier sandbox serve &\nespalier sandbox connect main'),
  E_NOT_MERGED: pair(
    'on: pull_request\nwith: { command: apply }',
    'on: { push: { branches: [main] } }\nwith: { command: apply }',
  ),
  E_OTHER_PLAN: pair(
    'espalier plan staging.yaml --out plan.json\nespalier apply --plan plan.json production.yaml',
    'espalier plan production.yaml --out plan.json\nespalier apply plan.json',
  ),
  E_OUT: pair('espalier plan --out /no/such/folder/plan.json', 'espalier plan --out plan.json'),
  E_OUTSIDE_WINDOW: pair(
    'espalier compute restart main   # outside of its window',
    'espalier compute restart main --now',
  ),
  E_OVERRIDE: pair(
    'espalier plan --override preview-size',
    'espalier plan --override "preview-size=load test until Friday"',
  ),
  E_PLAN_FILE: pair('espalier apply --plan live.json   # a snapshot', 'espalier plan --live live.json'),
  E_PRICE: pair('espalier plan --price 0.222', 'espalier plan --price 0.222USD'),
  E_PROTECTED: pair(
    'espalier compute delete main   # the manifest says protect: true',
    branches('main: { protect: false, primary: {} }'),
  ),
  E_PROXY: pair('HTTPS_PROXY=proxy.example:8080 espalier plan', 'HTTPS_PROXY=http://proxy.example:8080 espalier plan'),
  E_SANDBOX_PORT: pair('espalier sandbox serve --port 80', 'espalier sandbox serve --port 0   # any free port'),
  E_SANDBOX_STATE: pair(
    'espalier sandbox serve --state state &\nespalier sandbox serve --state state',
    'espalier sandbox serve --state state &\nespalier sandbox serve --state other',
  ),
  E_SIMULATED: pair(
    'espalier sandbox serve --computes simulated &\nespalier sandbox connect main',
    'espalier sandbox serve --computes postgres &\nespalier sandbox connect main',
  ),
  E_SIZE_TABLE: pair(
    'espalier sizes > sizes.json\nespalier plan --size-table sizes.json',
    'espalier sizes --format json > sizes.json\nespalier plan --size-table sizes.json',
  ),
  E_SNAPSHOT: pair(
    'espalier plan --live plan.json   # a saved plan',
    'espalier snapshot --out live.json\nespalier plan --live live.json',
  ),
  E_TIER_SCALE_TO_ZERO: pair(
    branches('main: { primary: { scaleToZero: never } }'),
    branches('main: { primary: { scaleToZero: 5m } }'),
  ),
  E_TIER_SIZE: pair(branches('main: { primary: { size: 4 } }'), branches('main: { primary: { size: 2 } }')),
  E_TLS: pair('NODE_TLS_REJECT_UNAUTHORIZED=0 espalier plan', 'NODE_EXTRA_CA_CERTS=company.pem espalier plan'),
  E_USAGE: pair('espalier plan --bas main', 'espalier plan --base main'),
  'not-consented': pair('espalier apply --auto-approve', 'espalier apply --auto-approve --allow delete'),
  'outside-window': pair('espalier apply --auto-approve', 'espalier apply --auto-approve --now'),
}
