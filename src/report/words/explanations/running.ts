/** Codes of the program: flags, files, the service, the sandbox. */
import type { Explanation } from './explanation.ts'

export const RUNNING: Readonly<Record<string, Explanation>> = {
  E_AGENT_DATA: {
    rule: 'A data folder belongs to one agent, and its format must be known.',
    example: '--data /var/lib/espalier',
    wayOut: 'Stop the other agent or name another folder; run the version that wrote it.',
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
    rule: 'The service accepts the call.',
    example: 'a value that the plan of the account does not allow',
    wayOut: 'Its own words say why.',
  },
  E_BASE_URL: {
    rule: 'The API root is https, or http on this machine, and ends in the version of the API.',
    example: 'https://console.neon.tech/api/v2',
    wayOut: 'Correct --base-url or ESPALIER_BASE_URL.',
  },
  E_BUDGET: {
    rule: 'Over a budget nothing at all is done.',
    example: '--max-restarts 5',
    wayOut: 'Raise the budget, or make the change smaller.',
  },
  E_COMMENT: {
    rule: 'comment: always insists on the comment.',
    example: 'pull-requests: write',
    wayOut: 'Give the job that permission, or take comment: auto.',
  },
  E_CONSENT: {
    rule: 'Nothing is changed without a yes.',
    example: '--auto-approve',
    wayOut: 'Give it where nobody can be asked.',
  },
  E_FAULTS: {
    rule: 'A file of faults is a list of what is to go wrong.',
    example: '- { on: request, effect: { kind: lock } }',
    wayOut: 'docs/sandbox.md shows what a fault may be.',
  },
  E_GIT: {
    rule: '--base names a commit that is here, and holds at most 50,000 YAML files and 256 MiB of them.',
    example: '--base origin/main',
    wayOut: 'Fetch it; keep manifests in a folder of their own.',
  },
  E_TLS: {
    rule: 'The key is sent to nobody whose certificate was not checked.',
    example: 'NODE_TLS_REJECT_UNAUTHORIZED=0',
    wayOut: 'Unset it; trust a private authority with NODE_EXTRA_CA_CERTS.',
  },
  E_PROXY: {
    rule: 'HTTPS_PROXY and HTTP_PROXY hold the address of a proxy, or nothing.',
    example: 'HTTPS_PROXY=http://proxy.example:8080',
    wayOut: 'Correct or unset them; NO_PROXY names hosts that need none.',
  },
  E_REDIRECT: {
    rule: 'A redirect is not followed: the key is for one host.',
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
    rule: 'A job that has secrets checks out the base: a pull request is read from git.',
    example: 'on: pull_request_target, with ref: of the head',
    wayOut: 'Take `ref` out of actions/checkout.',
  },
  E_NOT_MERGED: {
    rule: 'Nothing is applied for a pull request before it is merged.',
    example: 'on: pull_request, with command: apply',
    wayOut: 'Apply in a workflow that runs on push.',
  },
  E_DISABLED: {
    rule: 'A disabled compute does not start.',
    example: 'disabled: false',
    wayOut: 'Enable it in its manifest and apply.',
  },
  E_PROTECTED: {
    rule: 'compute delete deletes nothing that a manifest or the service protects.',
    example: 'protect: true',
    wayOut: 'Take the protection away first, in the manifest or at the service.',
  },
  E_OUTSIDE_WINDOW: {
    rule: 'compute interrupts a compute in its restart window only.',
    example: 'espalier compute restart main --now',
    wayOut: 'Run it again in the window, or with --now.',
  },
  E_POLICY: {
    rule: 'compute obeys the manifests of the current folder, so it must be able to read them.',
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
    rule: 'A formatted manifest means what it meant before.',
    example: 'espalier fmt',
    wayOut: 'The file is left as it was: report it, with the manifest.',
  },
  E_IMPORT: {
    rule: 'What is imported plans empty, or is not written.',
    example: 'espalier import --project quiet-river-12345678',
    wayOut: 'Import fewer branches with --branch, or with --pin.',
  },
  E_INPUT: {
    rule: 'An input of the Action has one of its values.',
    example: 'command: plan',
    wayOut: 'docs/github-action.md lists them.',
  },
  E_JOURNAL: {
    rule: 'The journal can be written, or nothing is done.',
    example: '--journal apply.jsonl',
    wayOut: 'Free the disk or name another file, then apply again: it converges.',
  },
  E_KEY: {
    rule: 'A key is one line of printable characters.',
    example: 'ESPALIER_API_KEY',
    wayOut: 'Set it, or name a file with --api-key-file.',
  },
  E_OTHER_PLAN: {
    rule: 'A saved plan is applied by a step that names the same manifests, label and shard as the one that saved it.',
    example: 'paths: staging.yaml, with the plan of production.yaml',
    wayOut: 'Give apply the paths, label and shard of the plan that is meant.',
  },
  E_MERGE: {
    rule: 'Plans that are joined are all parts of one fleet, each once.',
    example: 'espalier report merge plans/*.json',
    wayOut: 'Plan all shards from one commit, and name all their plans.',
  },
  E_NETWORK: {
    rule: 'The service answers.',
    example: 'a proxy that does not',
    wayOut: 'Check the network, and run the same command again.',
  },
  E_NO_COMPUTE: {
    rule: 'A reference names one compute.',
    example: 'main, main/reporting, ep-…',
    wayOut: 'espalier status lists them.',
  },
  E_NO_SANDBOX: { rule: 'A sandbox of yours runs.', example: 'espalier sandbox serve', wayOut: 'Start one.' },
  E_OUT: { rule: 'The file can be written.', example: '--out plan.json', wayOut: 'Name another one.' },
  E_PLAN_EDITED: {
    rule: 'A saved plan is applied and shown as it was saved.',
    example: 'summary.restarts was set to 0 in plan.json',
    wayOut: 'Change the manifests and plan again.',
  },
  E_PLAN_FILE: {
    rule: 'A saved plan was written by plan --out, in this format.',
    example: 'espalier plan --out plan.json',
    wayOut: 'Plan again.',
  },
  E_POSTGRES: {
    rule: 'Real computes need Postgres 15 or newer.',
    example: '--pg-bin /usr/lib/postgresql/17/bin',
    wayOut: 'Install it, or take --computes simulated.',
  },
  E_POSTGRES_ROOT: {
    rule: 'Postgres does not run as root.',
    example: 'nobody, or a user namespace',
    wayOut: 'Run the sandbox as another user.',
  },
  E_POSTGRES_VERSION: {
    rule: 'Data is opened by the major version that made it.',
    example: '--pg-bin',
    wayOut: 'Name that version, or delete the data.',
  },
  E_PSQL: {
    rule: '--psql needs psql.',
    example: 'psql "$(espalier sandbox connect main)"',
    wayOut: 'Install it, or use another client.',
  },
  E_READ_BACK: {
    rule: 'What was changed shows as asked.',
    example: 'an attribute that was accepted and had no effect',
    wayOut: 'Look with espalier plan, and apply again.',
  },
  E_SANDBOX_BRANCH: {
    rule: 'A branch for a test is made as any client makes one.',
    example: 'createBranch({ parent: main })',
    wayOut: 'The message is the answer of the API.',
  },
  E_SANDBOX_PORT: { rule: 'The port is free.', example: '--port 0', wayOut: 'Choose another.' },
  E_SANDBOX_STATE: {
    rule: 'One sandbox uses a state folder, and can write to it.',
    example: '--state .espalier/sandbox',
    wayOut: 'End the other one, or name another folder.',
  },
  E_SANDBOX_WORLD: {
    rule: 'What is loaded was dumped by a sandbox.',
    example: 'GET /_sandbox/world',
    wayOut: 'Load that.',
  },
  E_SEED: {
    rule: 'A seed describes a world that the API allows.',
    example: 'examples/quickstart/seed.yaml',
    wayOut: 'docs/sandbox.md shows what it may hold.',
  },
  E_SIMULATED: {
    rule: 'SQL needs real computes.',
    example: 'espalier sandbox serve --computes postgres',
    wayOut: 'Serve it with those.',
  },
  E_SIZE_TABLE: {
    rule: 'A size table has the form that sizes --format json prints.',
    example: '--size-table sizes.json',
    wayOut: 'Start from that.',
  },
  E_SNAPSHOT: {
    rule: 'A snapshot was written by espalier snapshot, in this format.',
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
    rule: 'A command takes its own flags and arguments.',
    example: 'espalier plan --help',
    wayOut: 'The help lists them.',
  },
}
