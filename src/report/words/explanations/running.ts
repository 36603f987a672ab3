/** Explains the codes that concern flags, files, the service, the Action and the agent. */
import type { Explanation } from './explanation.ts'

export const RUNNING: Readonly<Record<string, Explanation>> = {
  E_AGENT_DATA: {
    rule: 'Only one agent can use a data folder, and this version of Espalier must know the format of its files.',
    example: '--data /var/lib/espalier',
    wayOut:
      'Stop the other agent, or use another folder. If the format is unknown, run the version of Espalier that wrote the folder.',
  },
  E_AGENT_LISTEN: {
    rule: 'The agent must be able to listen on the address that is configured for it.',
    example: '--listen 127.0.0.1:7790',
    wayOut: 'Choose another address with --listen or --listen-public.',
  },
  E_AGENT_UNREACHABLE: {
    rule: 'Agent commands need a running agent with the same data folder.',
    example: '`espalier agent status` while no agent is running',
    wayOut: 'Start it with `espalier agent run`, or name its folder with --data.',
  },
  E_ANSWER_SIZE: {
    rule: 'A response can contain at most 32 MiB, and at most 3,000,000 values and keys.',
    example: 'a server that is not the control API',
    wayOut: 'Check that --base-url is the address of the control API.',
  },
  E_ANSWER: {
    rule: 'Responses from the service must have the documented format.',
    example: 'a size that is a string, an id that contains a slash, or an HTML page instead of JSON',
    wayOut:
      'The message names the unexpected value. If the response is a page instead of JSON, check --base-url and any proxy.',
  },
  E_API: {
    rule: 'The service must accept the request.',
    example: "a value that the account's plan does not allow",
    wayOut: "The service's message gives the reason.",
  },
  E_BASE_URL: {
    rule: 'The base URL must use https, unless the server runs on this machine, and must end with the API version.',
    mistake: 'espalier plan --base-url http://console.neon.tech/api/v2',
    correction: 'espalier plan --base-url https://console.neon.tech/api/v2',
    wayOut: 'Correct --base-url or ESPALIER_BASE_URL.',
  },
  E_BUDGET: {
    rule: 'If a plan exceeds a budget, nothing is applied.',
    mistake: 'espalier apply --auto-approve --max-restarts 1   # the plan restarts 2 computes',
    correction: 'espalier apply --auto-approve --max-restarts 2',
    wayOut: 'Raise the budget, or make the change smaller.',
  },
  E_COMMENT: {
    rule: 'With comment: always, the job fails if it cannot write its comment on the pull request.',
    mistake: 'permissions: { contents: read }',
    correction: 'permissions: { contents: read, pull-requests: write }',
    wayOut: 'Grant the job the permission pull-requests: write, or use comment: auto.',
  },
  E_CONSENT: {
    rule: 'Changes must be confirmed before they are applied.',
    mistake: 'espalier apply < /dev/null',
    correction: 'espalier apply --auto-approve',
    wayOut: 'If there is no terminal to ask at, use --auto-approve.',
  },
  E_GIT: {
    rule: '--base must name a commit in this repository. The commit can contain at most 50,000 YAML files, with a total of at most 256 MiB.',
    mistake: 'espalier plan --base origin/mian',
    correction: 'git fetch origin && espalier plan --base origin/main',
    wayOut: 'Fetch the commit. If it contains too many YAML files, keep the manifests in a folder of their own.',
  },
  E_TLS: {
    rule: 'The API key is sent only to a server whose certificate can be verified.',
    mistake: 'NODE_TLS_REJECT_UNAUTHORIZED=0 espalier plan',
    correction: 'NODE_EXTRA_CA_CERTS=company.pem espalier plan',
    wayOut: 'To trust a private certificate authority, set NODE_EXTRA_CA_CERTS. Unset NODE_TLS_REJECT_UNAUTHORIZED.',
  },
  E_PROXY: {
    rule: 'HTTPS_PROXY and HTTP_PROXY must be empty or contain the URL of a proxy.',
    mistake: 'HTTPS_PROXY=proxy.example:8080 espalier plan',
    correction: 'HTTPS_PROXY=http://proxy.example:8080 espalier plan',
    wayOut: 'Correct or unset these variables. List hosts that do not need the proxy in NO_PROXY.',
  },
  E_REDIRECT: {
    rule: 'Redirects are not followed, because the API key is meant for one host only.',
    example: 'a response with status 302',
    wayOut: 'If you trust the target of the redirect, pass its URL as --base-url.',
  },
  E_FORK_PROJECT: {
    rule: 'A pull request from a fork can plan only projects that are declared on its base branch.',
    example: 'a pull request declares a project that belongs to another team',
    wayOut: 'Ask a maintainer to add the project in a pull request from a branch of the repository itself.',
  },
  E_FORK_BASE: {
    rule: 'The manifests on the base branch decide which projects a pull request from a fork can plan, so they must be valid.',
    example: 'the base branch has no manifests, or its manifests have errors',
    wayOut: 'Correct the manifests on the base branch first.',
  },
  E_FORK_CHECKOUT: {
    rule: 'A job that has access to secrets must check out the base branch. The manifests of the pull request are read from git.',
    mistake: 'on: pull_request_target\nsteps:\n  - uses: actions/checkout@v4\n    with: { ref: refs/pull/12/head }',
    correction: 'on: pull_request_target\nsteps:\n  - uses: actions/checkout@v4',
    wayOut: 'Remove `ref` from actions/checkout.',
  },
  E_NOT_MERGED: {
    rule: 'The changes in a pull request are applied only after it is merged.',
    mistake: 'on: pull_request\nwith: { command: apply }',
    correction: 'on: { push: { branches: [main] } }\nwith: { command: apply }',
    wayOut: 'Apply it in a workflow that runs on push.',
  },
  E_PULL_REQUEST: {
    rule: 'The pull request that the input pull-request names must be readable.',
    mistake: 'permissions: { contents: read }\nwith: { pull-request: 12 }',
    correction: 'permissions: { contents: read, pull-requests: read }\nwith: { pull-request: 12 }',
    wayOut: 'Grant the job the permission pull-requests: read, or run it again if GitHub did not respond.',
  },
  E_DISABLED: {
    rule: 'A disabled compute cannot be started.',
    mistake: 'espalier compute start main   # the manifest says disabled: true',
    correction: 'branches:\n  main: { primary: { disabled: false } }',
    wayOut: 'Enable the compute in its manifest, then run apply.',
  },
  E_PROTECTED: {
    rule: '`compute delete` cannot delete a compute that is protected by a manifest or by the service.',
    mistake: 'espalier compute delete main   # the manifest says protect: true',
    correction: 'branches:\n  main: { protect: false, primary: {} }',
    wayOut: 'Remove the protection first, in the manifest or in the service.',
  },
  E_MANIFESTS: {
    rule: 'The `compute` commands check protection and restart windows in the manifests of the current folder, so the manifests must be valid.',
    mistake: 'espalier compute restart main   # in a folder whose manifests have errors',
    correction: 'espalier validate   # shows the errors to correct',
    wayOut: 'Correct the manifests, or run the command in a folder without them.',
  },
  E_OUTSIDE_WINDOW: {
    rule: 'The `compute` commands interrupt a compute only in its restart window.',
    mistake: 'espalier compute restart main   # while its restart window is closed',
    correction: 'espalier compute restart main --now',
    wayOut: 'Run the command again while the window is open, or use --now.',
  },
  E_IDLE: {
    rule: 'Only an active compute can be restarted.',
    mistake: 'espalier compute restart staging   # staging is idle',
    correction: 'espalier compute start staging',
    wayOut: 'Use `espalier compute start`, which has the same effect on an idle compute.',
  },
  E_OPERATION: {
    rule: 'An operation must finish successfully.',
    example: 'apply_config ended with the status error',
    wayOut: "The operation's error gives the reason. Run `espalier plan` to see the state of the compute.",
  },
  E_FORMAT: {
    rule: 'Formatting a manifest must not change its meaning.',
    example: 'espalier fmt',
    wayOut: 'The file was not changed. Please report this bug and include the manifest.',
  },
  E_IMPORT: {
    rule: 'A manifest is imported only if planning it produces no changes.',
    example: 'espalier import --project quiet-river-12345678',
    wayOut: 'Import fewer branches with --branch, or pin the computes with --pin.',
  },
  E_INPUT: {
    rule: 'Every input of the Action must have a value that it allows.',
    mistake: 'with: { command: merge }',
    correction: 'with: { command: merge, plan-file: "plans/*.json" }',
    wayOut: 'docs/github-action.md lists all inputs and the values that they allow.',
  },
  E_JOURNAL: {
    rule: 'Nothing is applied unless the journal can be written.',
    mistake: 'espalier apply --journal /proc/apply.jsonl',
    correction: 'espalier apply --journal apply.jsonl',
    wayOut: 'Free disk space or choose another file, then apply again to continue.',
  },
  E_KEY: {
    rule: 'An API key must be a single line of printable characters.',
    mistake: 'unset ESPALIER_API_KEY; espalier plan',
    correction: 'ESPALIER_API_KEY="$(cat key.txt)" espalier plan',
    wayOut: 'Set ESPALIER_API_KEY, or name a file with --api-key-file.',
  },
  E_NOT_REVIEWED: {
    rule: 'With require-reviewed, a change is applied only if the plan on the merged pull request showed it.',
    example: 'somebody resized a compute after the review',
    wayOut: 'Merge another pull request whose plan shows the new changes, or apply without require-reviewed.',
  },
  E_OTHER_PLAN: {
    rule: 'A saved plan can be applied only with the manifests and label that it was made with.',
    mistake: 'espalier plan staging.yaml --out plan.json\nespalier apply --plan plan.json production.yaml',
    correction: 'espalier plan production.yaml --out plan.json\nespalier apply plan.json',
    wayOut: 'Run apply with the paths and label that the saved plan was made with.',
  },
  E_NETWORK: {
    rule: 'The service must be reachable.',
    example: 'a proxy that does not respond',
    wayOut: 'Check the network, then run the same command again.',
  },
  E_NO_COMPUTE: {
    rule: 'A reference to a compute must match exactly one compute.',
    mistake: 'espalier compute start mian',
    correction: 'espalier compute start main',
    wayOut: 'Run `espalier status` for a list of the computes.',
  },
  E_OUT: {
    rule: 'The output file must be writable.',
    mistake: 'espalier plan --out /no/such/folder/plan.json',
    correction: 'espalier plan --out plan.json',
    wayOut: 'Choose another file.',
  },
  E_PLAN_EDITED: {
    rule: 'A saved plan must not be edited.',
    example: 'summary.restarts was set to 0 in plan.json',
    wayOut: 'Change the manifests and plan again.',
  },
  E_PLAN_FILE: {
    rule: 'A saved plan must be a file that plan --out wrote in the current format.',
    mistake: 'espalier apply --plan live.json   # a snapshot',
    correction: 'espalier plan --live live.json',
    wayOut: 'Make a new plan with plan --out.',
  },
  E_READ_BACK: {
    rule: 'If the response to a request is lost, Espalier reads the project to find out whether the request took effect, so this must succeed.',
    example: 'a response is lost, and reading the project then fails with status 500',
    wayOut: 'Run espalier plan to see which changes are left, then apply again.',
  },
  E_SIZE_TABLE: {
    rule: 'A size table must have the format that sizes --format json prints.',
    mistake: 'espalier sizes > sizes.json\nespalier plan --size-table sizes.json',
    correction: 'espalier sizes --format json > sizes.json\nespalier plan --size-table sizes.json',
    wayOut: 'Start from the output of that command.',
  },
  E_SNAPSHOT: {
    rule: 'A snapshot must be a file that espalier snapshot wrote in the current format.',
    mistake: 'espalier plan --live plan.json   # a saved plan',
    correction: 'espalier snapshot --out live.json\nespalier plan --live live.json',
    wayOut: 'Take the snapshot again.',
  },
  E_STALE: {
    rule: 'A saved plan is applied exactly as it was made, or not at all.',
    example: 'somebody changed a compute after the plan was made',
    wayOut: 'Make a new plan and review it.',
  },
  E_TIMEOUT: {
    rule: 'Every wait has a time limit.',
    example: '--timeout 10m',
    wayOut: 'The operation continues on the service. To keep waiting, run the command again.',
  },
  E_USAGE: {
    rule: 'A command accepts only its own flags and arguments.',
    mistake: 'espalier plan --bas main',
    correction: 'espalier plan --base main',
    wayOut: 'Run the command with --help to see its flags and arguments.',
  },
}
