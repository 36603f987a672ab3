/** Codes for flags, files, the service and the sandbox. */
import type { Explanation } from './explanation.ts'

export const RUNNING: Readonly<Record<string, Explanation>> = {
  E_AGENT_DATA: {
    rule: 'A data folder belongs to one agent, and its format must be known.',
    example: '--data /var/lib/espalier',
    wayOut: 'Stop the other agent or name another folder; run the version that wrote it.',
  },
  E_AGENT_LISTEN: {
    rule: 'The agent needs a free address of this machine to listen on.',
    example: '--listen 127.0.0.1:7790',
    wayOut: 'Name another address with --listen or --listen-public.',
  },
  E_AGENT_UNREACHABLE: {
    rule: 'Agent commands need a running agent with the same data folder.',
    example: '`espalier agent status` where no agent runs',
    wayOut: 'Start it with `espalier agent run`, or name its folder with --data.',
  },
  E_ANSWER_SIZE: {
    rule: 'An answer holds at most 32 MiB, and 3,000,000 values and keys.',
    example: 'a server that is not the control API',
    wayOut: 'Check --base-url.',
  },
  E_ANSWER: {
    rule: 'Answers of the service must have the documented shape.',
    example: 'a size as text, an id with a slash, an HTML page instead of JSON',
    wayOut: 'Check what the message names. If the answer is a page instead of JSON, check --base-url and any proxy.',
  },
  E_API: {
    rule: 'The service must accept the request.',
    example: 'a value that the plan of the account does not allow',
    wayOut: "The service's message gives the reason.",
  },
  E_BASE_URL: {
    rule: 'The base URL is https, or http on this machine, and ends with the API version.',
    example: 'https://console.neon.tech/api/v2',
    wayOut: 'Correct --base-url or ESPALIER_BASE_URL.',
  },
  E_BUDGET: {
    rule: 'If a plan exceeds a budget, nothing is applied.',
    example: '--max-restarts 5',
    wayOut: 'Raise the budget, or make the change smaller.',
  },
  E_COMMENT: {
    rule: 'With comment: always, the job fails if it cannot comment.',
    example: 'pull-requests: write',
    wayOut: 'Give the job that permission, or use comment: auto.',
  },
  E_CONSENT: {
    rule: 'Changes need confirmation.',
    example: '--auto-approve',
    wayOut: 'Without a terminal, use --auto-approve.',
  },
  E_FAULTS: {
    rule: 'A fault file is a list of faults to inject.',
    example: '- { on: request, effect: { kind: lock } }',
    wayOut: 'docs/sandbox.md lists the faults.',
  },
  E_GIT: {
    rule: '--base names a commit in this repository with at most 50,000 YAML files and 256 MiB of them.',
    example: '--base origin/main',
    wayOut: 'Fetch it; keep manifests in a separate folder.',
  },
  E_TLS: {
    rule: 'The key is sent only to servers whose certificate was checked.',
    example: 'NODE_TLS_REJECT_UNAUTHORIZED=0',
    wayOut: 'Unset it; trust a private authority with NODE_EXTRA_CA_CERTS.',
  },
  E_PROXY: {
    rule: 'HTTPS_PROXY and HTTP_PROXY hold the address of a proxy, or nothing.',
    example: 'HTTPS_PROXY=http://proxy.example:8080',
    wayOut: 'Correct or unset them; NO_PROXY names hosts that need none.',
  },
  E_REDIRECT: {
    rule: 'Redirects are not followed: the key is meant for one host.',
    example: 'an answer with status 302',
    wayOut: 'Give the address that it redirects to as --base-url, if you trust it.',
  },
  E_FORK_PROJECT: {
    rule: 'A pull request from a fork can only plan projects that its base declares.',
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
    example: 'on: pull_request_target, with ref: of the head',
    wayOut: 'Remove `ref` from actions/checkout.',
  },
  E_NOT_MERGED: {
    rule: 'A pull request is applied only after it is merged.',
    example: 'on: pull_request, with command: apply',
    wayOut: 'Apply in a workflow that runs on push.',
  },
  E_DISABLED: {
    rule: 'A disabled compute cannot be started.',
    example: 'disabled: false',
    wayOut: 'Enable it in its manifest and apply.',
  },
  E_PROTECTED: {
    rule: '`compute delete` cannot delete what a manifest or the service protects.',
    example: 'protect: true',
    wayOut: 'Remove the protection first, in the manifest or at the service.',
  },
  E_OUTSIDE_WINDOW: {
    rule: '`compute` interrupts a compute only in its restart window.',
    example: 'espalier compute restart main --now',
    wayOut: 'Run it again in the window, or with --now.',
  },
  E_POLICY: {
    rule: '`compute` respects the manifests in the current folder, so they must be valid.',
    example: 'espalier validate',
    wayOut: 'Correct the manifests, or run the command in another folder.',
  },
  E_IDLE: {
    rule: 'Only an active compute can be restarted.',
    example: 'espalier compute start staging',
    wayOut: 'Start it with espalier compute start: that has the same effect.',
  },
  E_OPERATION: {
    rule: 'An operation must finish successfully.',
    example: 'apply_config ended as error',
    wayOut: 'The error of the operation says why; espalier plan shows the state of the compute.',
  },
  E_FORMAT: {
    rule: 'Formatting must not change the meaning of a manifest.',
    example: 'espalier fmt',
    wayOut: 'The file was not changed. Please report this, with the manifest.',
  },
  E_IMPORT: {
    rule: 'An imported manifest is written only if its plan is empty.',
    example: 'espalier import --project quiet-river-12345678',
    wayOut: 'Import fewer branches with --branch, or with --pin.',
  },
  E_INPUT: {
    rule: 'An input of the Action must have an allowed value.',
    example: 'command: plan',
    wayOut: 'docs/github-action.md lists them.',
  },
  E_JOURNAL: {
    rule: 'The journal must be writable, or nothing is applied.',
    example: '--journal apply.jsonl',
    wayOut: 'Free disk space or name another file, then apply again to continue.',
  },
  E_KEY: {
    rule: 'A key is one line of printable characters.',
    example: 'ESPALIER_API_KEY',
    wayOut: 'Set it, or name a file with --api-key-file.',
  },
  E_NOT_REVIEWED: {
    rule: 'With require-reviewed, only changes that the plan on the merged pull request showed are applied.',
    example: 'a compute that somebody resized after the review',
    wayOut: 'Merge another pull request whose plan shows them, or apply without require-reviewed.',
  },
  E_OTHER_PLAN: {
    rule: 'A saved plan can be applied only with the same manifests, label and shard.',
    example: 'paths: staging.yaml, with the plan of production.yaml',
    wayOut: 'Give apply the paths, label and shard of the saved plan.',
  },
  E_MERGE: {
    rule: 'Merged plans must be all the shards of one fleet, each once.',
    example: 'espalier report merge plans/*.json',
    wayOut: 'Plan all shards from one commit, and pass all their plans.',
  },
  E_NETWORK: {
    rule: 'The service must be reachable.',
    example: 'a proxy that does not respond',
    wayOut: 'Check the network, and run the same command again.',
  },
  E_NO_COMPUTE: {
    rule: 'A reference must match exactly one compute.',
    example: 'main, main/reporting, ep-…',
    wayOut: 'espalier status lists them.',
  },
  E_NO_SANDBOX: {
    rule: 'A sandbox must be running.',
    example: 'espalier sandbox connect main',
    wayOut: 'Start one with espalier sandbox serve.',
  },
  E_OUT: { rule: 'The output file must be writable.', example: '--out plan.json', wayOut: 'Name another one.' },
  E_PLAN_EDITED: {
    rule: 'A saved plan must not be edited.',
    example: 'summary.restarts was set to 0 in plan.json',
    wayOut: 'Change the manifests and plan again.',
  },
  E_PLAN_FILE: {
    rule: 'A saved plan is a file that plan --out wrote, in the current format.',
    example: 'espalier plan --out plan.json',
    wayOut: 'Plan again.',
  },
  E_POSTGRES: {
    rule: 'Real computes need Postgres 15 or newer.',
    example: '--pg-bin /usr/lib/postgresql/17/bin',
    wayOut: 'Install it, or use --computes simulated.',
  },
  E_POSTGRES_ROOT: {
    rule: 'Postgres cannot run as root.',
    example: 'nobody, or a user namespace',
    wayOut: 'Run the sandbox as another user.',
  },
  E_POSTGRES_VERSION: {
    rule: 'Data can be opened only by the Postgres major version that created it.',
    example: '--pg-bin',
    wayOut: 'Use that version, or delete the data.',
  },
  E_PSQL: {
    rule: '--psql needs psql.',
    example: 'psql "$(espalier sandbox connect main)"',
    wayOut: 'Install it, or use another client.',
  },
  E_READ_BACK: {
    rule: 'The effect of a request must be readable.',
    example: 'a request whose answer was lost, and then the project could not be read',
    wayOut: 'Check espalier plan, then apply again.',
  },
  E_SANDBOX_BRANCH: {
    rule: "A test branch is created through the sandbox's API, which must accept it.",
    example: 'createBranch({ parent: main })',
    wayOut: "The message is the API's answer.",
  },
  E_SANDBOX_PORT: { rule: 'The port must be free.', example: '--port 0', wayOut: 'Choose another.' },
  E_SANDBOX_STATE: {
    rule: 'A state folder belongs to one sandbox and must be writable.',
    example: '--state .espalier/sandbox',
    wayOut: 'Connect to the other one with ESPALIER_BASE_URL and ESPALIER_API_KEY, stop it, or name another folder.',
  },
  E_SANDBOX_WORLD: {
    rule: 'Only a dump that a sandbox wrote can be loaded.',
    example: 'GET /_sandbox/world',
    wayOut: 'Use the answer of GET /_sandbox/world.',
  },
  E_SEED: {
    rule: 'A seed must describe a state that the API allows.',
    example: 'examples/quickstart/seed.yaml',
    wayOut: 'docs/sandbox.md has the format.',
  },
  E_SIMULATED: {
    rule: 'SQL needs real computes, not simulated ones.',
    example: 'espalier sandbox serve --computes postgres',
    wayOut: 'Start the sandbox with --computes postgres.',
  },
  E_SIZE_TABLE: {
    rule: 'A size table has the format that sizes --format json prints.',
    example: '--size-table sizes.json',
    wayOut: 'Start from that output.',
  },
  E_SNAPSHOT: {
    rule: 'A snapshot is a file that espalier snapshot wrote, in the current format.',
    example: 'espalier snapshot --out live.json',
    wayOut: 'Take it again.',
  },
  E_STALE: {
    rule: 'A saved plan is applied exactly, or not at all.',
    example: 'somebody changed a compute since',
    wayOut: 'Plan again and review.',
  },
  E_TIMEOUT: {
    rule: 'Every wait has a time limit.',
    example: '--timeout 10m',
    wayOut: 'The operation continues on the service: wait again.',
  },
  E_USAGE: {
    rule: 'A command accepts only its own flags and arguments.',
    example: 'espalier plan --help',
    wayOut: 'Run the command with --help.',
  },
}
