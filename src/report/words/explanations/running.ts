/** Codes for flags, files, the service, the Action and the agent. */
import type { Explanation } from './explanation.ts'

export const RUNNING: Readonly<Record<string, Explanation>> = {
  E_AGENT_DATA: {
    rule: 'A data folder must be used by only one agent, and its format must be known.',
    example: '--data /var/lib/espalier',
    wayOut:
      'Stop the other agent, or use another folder. If the format is unknown, run the version of Espalier that wrote it.',
  },
  E_AGENT_LISTEN: {
    rule: 'The agent must be able to listen on its address.',
    example: '--listen 127.0.0.1:7790',
    wayOut: 'Choose another address with --listen or --listen-public.',
  },
  E_AGENT_UNREACHABLE: {
    rule: 'Agent commands need a running agent with the same data folder.',
    example: '`espalier agent status` where no agent runs',
    wayOut: 'Start it with `espalier agent run`, or name its folder with --data.',
  },
  E_ANSWER_SIZE: {
    rule: 'A response can contain at most 32 MiB, and at most 3,000,000 values and keys.',
    example: 'a server that is not the control API',
    wayOut: 'Check --base-url.',
  },
  E_ANSWER: {
    rule: 'Responses of the service must have the documented format.',
    example: 'a size as a string, an id with a slash, an HTML page instead of JSON',
    wayOut:
      'The message names the unexpected value. If the response is a page instead of JSON, check --base-url and any proxy.',
  },
  E_API: {
    rule: 'The service must accept the request.',
    example: "a value that the account's plan does not allow",
    wayOut: "The service's message gives the reason.",
  },
  E_BASE_URL: {
    rule: 'The base URL must use https (or http on this machine) and end with the API version.',
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
    rule: 'With comment: always, the job fails if it cannot comment.',
    mistake: 'permissions: { contents: read }',
    correction: 'permissions: { contents: read, pull-requests: write }',
    wayOut: 'Give the job the permission pull-requests: write, or use comment: auto.',
  },
  E_CONSENT: {
    rule: 'Changes need confirmation.',
    mistake: 'espalier apply < /dev/null',
    correction: 'espalier apply --auto-approve',
    wayOut: 'Without a terminal, use --auto-approve.',
  },
  E_GIT: {
    rule: '--base must name a commit of this repository that has at most 50,000 YAML files, of at most 256 MiB in total.',
    mistake: 'espalier plan --base origin/mian',
    correction: 'git fetch origin && espalier plan --base origin/main',
    wayOut: 'Fetch the commit, or keep the manifests in a separate folder.',
  },
  E_TLS: {
    rule: 'The API key is sent only to servers with a verified certificate.',
    mistake: 'NODE_TLS_REJECT_UNAUTHORIZED=0 espalier plan',
    correction: 'NODE_EXTRA_CA_CERTS=company.pem espalier plan',
    wayOut: 'To trust a private certificate authority, set NODE_EXTRA_CA_CERTS. Unset NODE_TLS_REJECT_UNAUTHORIZED.',
  },
  E_PROXY: {
    rule: 'HTTPS_PROXY and HTTP_PROXY must be empty or the address of a proxy.',
    mistake: 'HTTPS_PROXY=proxy.example:8080 espalier plan',
    correction: 'HTTPS_PROXY=http://proxy.example:8080 espalier plan',
    wayOut: 'Correct or unset them. List hosts that need no proxy in NO_PROXY.',
  },
  E_REDIRECT: {
    rule: 'Redirects are not followed: the key is meant for one host.',
    example: 'a response with status 302',
    wayOut: 'If you trust the target of the redirect, pass its address as --base-url.',
  },
  E_FORK_PROJECT: {
    rule: 'A pull request from a fork can plan only projects that its base declares.',
    example: 'project: one-of-another-team',
    wayOut: 'A maintainer adds the project from a branch of the repository itself.',
  },
  E_FORK_BASE: {
    rule: 'The manifests of the base decide which projects a pull request from a fork can plan, so they must be valid.',
    example: 'a base without manifests, or with errors in them',
    wayOut: 'Fix the manifests of the base first.',
  },
  E_FORK_CHECKOUT: {
    rule: 'A job with secrets must check out the base; the pull request is read from git.',
    mistake: 'on: pull_request_target\nsteps:\n  - uses: actions/checkout@v4\n    with: { ref: refs/pull/12/head }',
    correction: 'on: pull_request_target\nsteps:\n  - uses: actions/checkout@v4',
    wayOut: 'Remove `ref` from actions/checkout.',
  },
  E_NOT_MERGED: {
    rule: 'A pull request is applied only after it is merged.',
    mistake: 'on: pull_request\nwith: { command: apply }',
    correction: 'on: { push: { branches: [main] } }\nwith: { command: apply }',
    wayOut: 'Apply in a workflow that runs on push.',
  },
  E_PULL_REQUEST: {
    rule: 'The pull request of the input pull-request must be readable.',
    mistake: 'permissions: { contents: read }\nwith: { pull-request: 12 }',
    correction: 'permissions: { contents: read, pull-requests: read }\nwith: { pull-request: 12 }',
    wayOut: 'Give the job the permission, or run it again if GitHub did not respond.',
  },
  E_DISABLED: {
    rule: 'A disabled compute cannot be started.',
    mistake: 'espalier compute start main   # the manifest says disabled: true',
    correction: 'branches:\n  main: { primary: { disabled: false } }',
    wayOut: 'Enable it in its manifest and apply.',
  },
  E_PROTECTED: {
    rule: '`compute delete` cannot delete a compute that a manifest or the service protects.',
    mistake: 'espalier compute delete main   # the manifest says protect: true',
    correction: 'branches:\n  main: { protect: false, primary: {} }',
    wayOut: 'Remove the protection first, in the manifest or at the service.',
  },
  E_MANIFESTS: {
    rule: '`compute` respects the manifests in the current folder, so they must be valid.',
    mistake: 'espalier compute restart main   # in a folder whose manifests have errors',
    correction: 'espalier validate   # shows the errors to correct',
    wayOut: 'Correct the manifests, or run the command in another folder.',
  },
  E_OUTSIDE_WINDOW: {
    rule: '`compute` interrupts a compute only in its restart window.',
    mistake: 'espalier compute restart main   # outside of its window',
    correction: 'espalier compute restart main --now',
    wayOut: 'Run it again in the window, or with --now.',
  },
  E_IDLE: {
    rule: 'Only an active compute can be restarted.',
    mistake: 'espalier compute restart staging   # staging is idle',
    correction: 'espalier compute start staging',
    wayOut: 'Use `espalier compute start`, which has the same effect on an idle compute.',
  },
  E_OPERATION: {
    rule: 'An operation must finish successfully.',
    example: 'apply_config ended as error',
    wayOut: "The operation's error gives the reason. `espalier plan` shows the state of the compute.",
  },
  E_FORMAT: {
    rule: 'Formatting must not change the meaning of a manifest.',
    example: 'espalier fmt',
    wayOut: 'The file was not changed. Please report this, with the manifest.',
  },
  E_IMPORT: {
    rule: 'An imported manifest is written only if its plan is empty.',
    example: 'espalier import --project quiet-river-12345678',
    wayOut: 'Import fewer branches with --branch, or pin the computes with --pin.',
  },
  E_INPUT: {
    rule: 'An input of the Action must have an allowed value.',
    mistake: 'with: { command: merge }',
    correction: 'with: { command: merge, plan-file: "plans/*.json" }',
    wayOut: 'docs/github-action.md lists all inputs and their values.',
  },
  E_JOURNAL: {
    rule: 'The journal must be writable, or nothing is applied.',
    mistake: 'espalier apply --journal /proc/apply.jsonl',
    correction: 'espalier apply --journal apply.jsonl',
    wayOut: 'Free disk space or name another file, then apply again to continue.',
  },
  E_KEY: {
    rule: 'An API key must be a single line of printable characters.',
    mistake: 'unset ESPALIER_API_KEY; espalier plan',
    correction: 'ESPALIER_API_KEY="$(cat key.txt)" espalier plan',
    wayOut: 'Set ESPALIER_API_KEY, or name a file with --api-key-file.',
  },
  E_NOT_REVIEWED: {
    rule: 'With require-reviewed, only changes that the plan on the merged pull request showed are applied.',
    example: 'a compute that somebody resized after the review',
    wayOut: 'Merge another pull request whose plan shows them, or apply without require-reviewed.',
  },
  E_OTHER_PLAN: {
    rule: 'A saved plan can be applied only with the same manifests, label and shard.',
    mistake: 'espalier plan staging.yaml --out plan.json\nespalier apply --plan plan.json production.yaml',
    correction: 'espalier plan production.yaml --out plan.json\nespalier apply plan.json',
    wayOut: 'Give apply the paths, label and shard of the saved plan.',
  },
  E_MERGE: {
    rule: '`report merge` needs the plan of each shard of a fleet exactly once.',
    mistake: 'espalier report merge 1.json   # of --shard 1/2',
    correction: 'espalier report merge 1.json 2.json',
    wayOut: 'Plan all shards from one commit, and pass all their plans.',
  },
  E_NETWORK: {
    rule: 'The service must be reachable.',
    example: 'a proxy that does not respond',
    wayOut: 'Check the network, and run the same command again.',
  },
  E_NO_COMPUTE: {
    rule: 'A reference must match exactly one compute.',
    mistake: 'espalier compute start mian',
    correction: 'espalier compute start main',
    wayOut: '`espalier status` lists the computes.',
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
    rule: 'A saved plan is a file that plan --out wrote, in the current format.',
    mistake: 'espalier apply --plan live.json   # a snapshot',
    correction: 'espalier plan --live live.json',
    wayOut: 'Plan again.',
  },
  E_READ_BACK: {
    rule: 'If a response is lost, the project must be readable, so that the effect of the request is known.',
    example: 'a lost response, followed by status 500 for the project',
    wayOut: 'Run espalier plan to see what is left, then apply again.',
  },
  E_SIZE_TABLE: {
    rule: 'A size table has the format that sizes --format json prints.',
    mistake: 'espalier sizes > sizes.json\nespalier plan --size-table sizes.json',
    correction: 'espalier sizes --format json > sizes.json\nespalier plan --size-table sizes.json',
    wayOut: 'Start from that output.',
  },
  E_SNAPSHOT: {
    rule: 'A snapshot is a file that espalier snapshot wrote, in the current format.',
    mistake: 'espalier plan --live plan.json   # a saved plan',
    correction: 'espalier snapshot --out live.json\nespalier plan --live live.json',
    wayOut: 'Take the snapshot again.',
  },
  E_STALE: {
    rule: 'A saved plan is applied exactly, or not at all.',
    example: 'somebody changed a compute after the plan was made',
    wayOut: 'Plan again and review the new plan.',
  },
  E_TIMEOUT: {
    rule: 'Every wait has a time limit.',
    example: '--timeout 10m',
    wayOut: 'The operation is still running on the service: run the command again to keep waiting.',
  },
  E_USAGE: {
    rule: 'A command accepts only its own flags and arguments.',
    mistake: 'espalier plan --bas main',
    correction: 'espalier plan --base main',
    wayOut: 'Run the command with --help.',
  },
}
