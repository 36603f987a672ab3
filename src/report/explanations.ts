/** Every code outside of reading manifests: what stands behind it, what it looks like, and the way out. */
import { type FailureReason, IMPACT_WORDS, IMPACTS, type Impact, REASONS, type Reason } from '../model/index.ts'

export interface Explanation {
  readonly rule: string
  /** As it is written, or as it looks. */
  readonly example: string
  readonly wayOut?: string
}

/** Of what manifests ask of the live project. */
const PLANNING: Readonly<Record<string, Explanation>> = {
  E_PROJECT_UNKNOWN: {
    rule: 'The project of a manifest is there, and the key sees it.',
    example: 'project: quiet-river-12345678',
    wayOut: 'Correct the id, or use a key of that project.',
  },
  E_PROJECT_UNREADABLE: {
    rule: 'A project is planned from what the control API shows of it.',
    example: 'status 403, status 500, or an answer that is not as documented',
    wayOut:
      'The words of the service say why. The other projects are planned; apply --keep-going applies them meanwhile.',
  },
  E_BRANCH_UNKNOWN: {
    rule: 'A declared branch is there: Espalier makes no branches.',
    example: 'branches: { main: … }',
    wayOut: 'Make the branch, correct its name, or declare a rule for branches that come and go.',
  },
  E_PIN_UNKNOWN: {
    rule: 'A pin names a compute that is there.',
    example: 'id: ep-cool-dawn-a1b2c3',
    wayOut: 'Take the pin out, so that a compute is found or made; after a replacement, put the new id in.',
  },
  E_BRANCH_AMBIGUOUS: {
    rule: 'A name that stands in a manifest is that of one branch.',
    example: 'branches: { br-still-lake-a1b2c3d: … }',
    wayOut: 'Write the id of the branch, or rename the others.',
  },
  E_TWO_PRIMARIES: {
    rule: 'A branch has one primary. Where the service shows two, its state is corrupt.',
    example: 'ep-… and ep-… are both read_write computes of main',
    wayOut: 'Find out in the console which one is in use, and ask the support of the service.',
  },
  E_PRIMARY_TAKEN: {
    rule: 'A branch has one primary (spec 1), so what moves there needs the place to be free.',
    example: 'main: { primary: absent }',
    wayOut: 'Declare the primary that is there as absent, or say where it goes.',
  },
  E_MOVE_CYCLE: {
    rule: 'Primaries that swap branches need an empty branch to wait on.',
    example: 'parkOn: spare',
    wayOut: 'Name an empty branch with parkOn, or change one of the pins.',
  },
  E_PARK_ON: {
    rule: 'parkOn names a branch without a primary.',
    example: 'parkOn: spare',
    wayOut: 'Name an empty branch.',
  },
  W_ADOPTED: {
    rule: 'A live compute that fits is taken for a declared one, rather than made again.',
    example: 'replicas: { reporting: … }, and one live replica without a name',
    wayOut: 'Pin the right one by its id, to be certain.',
  },
  W_CONNECTIONS_SHRINK: {
    rule: 'max_connections follows the size (spec 2.4).',
    example: '2 CU to 1 CU: 839 to 419',
    wayOut: 'Check that the clients need no more.',
  },
  W_NAME_TAKEN: {
    rule: 'Names are labels: the service lets two computes have one.',
    example: 'two replicas named reporting',
    wayOut: 'Rename one of the two, or pin them.',
  },
  W_WINDOW_CHANGED: {
    rule: 'A restart window of the git base holds until the change of it is merged.',
    example: 'restartWindow: always, in a pull request',
    wayOut: 'Check that the new window is meant.',
  },
  W_PIN_REPLACED: {
    rule: 'The API cannot change the type of a compute, so a pin in the place of the other type is made anew.',
    example: "a replica's id under primary",
    wayOut: 'Put the new id into the manifest after the apply.',
  },
  W_RULE_SHADOWED: {
    rule: 'Of several rules that match a branch the first one wins.',
    example: 'match: "*" before match: preview/*',
    wayOut: 'Put the narrower rule first.',
  },
  W_RULE_UNUSED: {
    rule: 'A rule is for branches that are there.',
    example: 'match: preview/*, and no branch of that name',
    wayOut: 'None is needed where such branches come and go.',
  },
}

/** Of the program. */
const RUNNING: Readonly<Record<string, Explanation>> = {
  E_ANSWER_SIZE: {
    rule: 'An answer holds at most 32 MiB, and 3,000,000 values and keys.',
    example: 'a server that is not the control API',
    wayOut: 'Check --base-url.',
  },
  E_ANSWER: {
    rule: "The service's answers have the documented shape.",
    example: 'a size as text, an id with a slash, an HTML page in the place of JSON',
    wayOut: 'Look at what the message names. For a page in the place of JSON check --base-url and any proxy.',
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
    rule: 'A pull request that is read with a key may only have projects looked at that the base names.',
    example: 'project: one-of-another-team',
    wayOut: 'A maintainer adds the project from a branch of the repository itself.',
  },
  E_FORK_BASE: {
    rule: 'What a pull request may have looked at is what the manifests of its base name.',
    example: 'a base without manifests, or with errors in them',
    wayOut: 'Bring the manifests of the base into order first.',
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
  W_POLICY_REMOVED: {
    rule: 'What the base protects, or does not prune, applies to an untrusted pull request as well.',
    example: 'a pull request from a fork that takes `protect: true` out',
    wayOut: 'Decide whether the policy may be removed before merging: after the merge it no longer applies.',
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
    wayOut: 'Wake it: it starts anew as well.',
  },
  E_OPERATION: {
    rule: 'What the control plane begins it ends well.',
    example: 'apply_config ended as error',
    wayOut: 'Its own words say why; espalier plan shows where the compute stands.',
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
    rule: 'A wait has an end.',
    example: '--timeout 10m',
    wayOut: 'The operation goes on by itself: wait again.',
  },
  E_USAGE: {
    rule: 'A command takes its own flags and arguments.',
    example: 'espalier plan --help',
    wayOut: 'The help lists them.',
  },
}

const OF_IMPACT: Readonly<Record<Impact, Omit<Explanation, 'rule'>>> = {
  none: { example: 'scale to zero, a name, anything on an idle compute' },
  'may-restart': { example: 'postgres.settings: some take effect at a restart only', wayOut: 'Treat it as a restart.' },
  restart: {
    example: 'size, autoscaling limits, preloaded libraries (spec 3.2)',
    wayOut: 'Applications must reconnect; covered by a plain yes.',
  },
  disconnect: { example: 'disabled: true', wayOut: 'Needs --allow disconnect.' },
  reconnect: {
    example: 'a pin that moves a compute to another branch: same host, other data',
    wayOut: 'Needs --allow move.',
  },
  'new-host': {
    example: 'a pin in the place of the other type',
    wayOut: 'Needs --allow replace; applications need the new host.',
  },
  gone: { example: 'primary: absent, prune: true', wayOut: 'Needs --allow delete; the host never comes back.' },
}

/** Of a step that was not done. */
const OF_FAILURE: Readonly<Record<FailureReason, Explanation>> = {
  'apply-failed': {
    rule: 'The control API takes the call.',
    example: '422: a limit of the account',
    wayOut: 'The message is the API’s own: remove the cause and apply again.',
  },
  'operation-failed': {
    rule: 'The operations of a step finish.',
    example: 'apply_config ended as failed, cancelled or skipped',
    wayOut: 'Look with espalier operations list, and apply again.',
  },
  'operation-timeout': {
    rule: 'The operations of a step finish in time.',
    example: '--operation-timeout 10m',
    wayOut: 'They go on by themselves: wait with espalier operations wait, then apply again.',
  },
  'not-effective': {
    rule: 'What was asked for shows when it is read back.',
    example: 'a size that the account’s plan does not include, accepted and ignored',
    wayOut: 'Check what the plan of the account allows.',
  },
  'project-busy': {
    rule: 'A project runs the operations of one call at a time (423).',
    example: 'somebody else’s operation that does not end',
    wayOut:
      'Look with espalier operations list --status running, and apply again, perhaps with a longer --lock-timeout.',
  },
  'rate-limited': {
    rule: 'The API takes so many requests a minute (429).',
    example: 'several programs with one account',
    wayOut: 'Apply again later, or with a lower --concurrency.',
  },
  auth: {
    rule: 'The key may do what a step does (401, 403).',
    example: 'a key that was revoked, or one that reads only',
    wayOut: 'Take another key and apply again.',
  },
  'changed-meanwhile': {
    rule: 'A step is sent only while what it changes and relies on is as the plan has it.',
    example: 'somebody resized the compute while the step waited for a lock',
    wayOut: 'Run espalier plan to review the project as it is now, then apply again.',
  },
  'depends-on-failed': {
    rule: 'A step runs once those before it are done.',
    example: 'a primary whose place was not freed',
    wayOut: 'Remove what kept the earlier step, and apply again.',
  },
  'not-consented': {
    rule: 'A plain yes covers the harmless and restarts, and nothing else.',
    example: '--allow delete,move',
    wayOut: 'Allow it, if that is what you want.',
  },
  protected: {
    rule: 'Nothing on a protected branch is deleted, moved or replaced.',
    example: 'protect: true',
    wayOut: 'Take the protection out first, in a change of its own.',
  },
  'outside-window': {
    rule: 'A step that interrupts waits for its restart window.',
    example: 'restartWindow: { days: [sun], from: "02:00", to: "04:00", timezone: Europe/Berlin }',
    wayOut: 'Apply again in the window, or with --now.',
  },
  interrupted: {
    rule: 'An interrupted run starts no new step.',
    example: 'Ctrl-C, SIGTERM, a journal on a full disk',
    wayOut: 'Apply again: it plans anew and does what is left.',
  },
}

const ofImpact = (impact: Impact): Explanation => ({ rule: IMPACT_WORDS[impact], ...OF_IMPACT[impact] })

const ofReason = (reason: Reason): Explanation => ({
  rule: `In a plan: ${REASONS[reason]}.`,
  example: `why: ${REASONS[reason]} (${reason})`,
})

/** By code. */
export const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  ...PLANNING,
  ...RUNNING,
  ...OF_FAILURE,
  ...Object.fromEntries(IMPACTS.map((impact) => [impact, ofImpact(impact)])),
  ...Object.fromEntries((Object.keys(REASONS) as Reason[]).map((reason) => [reason, ofReason(reason)])),
}

export const explanationText = (code: string, { rule, example, wayOut }: Explanation): string =>
  `${code}\n\n  rule     ${rule}\n  example  ${example}\n${wayOut === undefined ? '' : `  way out  ${wayOut}\n`}`
