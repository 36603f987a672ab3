/** Codes of what manifests ask of the live project. */
import type { PlanCode } from '../../../model/index.ts'
import type { Explanation } from './explanation.ts'

/** Two codes are the manifest's own as well, and explained there. */
type Planning = Exclude<PlanCode, 'E_TWO_CLAIMS' | 'E_SCALE_TO_ZERO_SIZE'>

export const PLANNING: Readonly<Record<Planning, Explanation>> = {
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
    rule: 'A branch name in a manifest must match exactly one branch.',
    example: 'branches: { br-still-lake-a1b2c3d: … }',
    wayOut: 'Write the id of the branch, or rename the others.',
  },
  E_TWO_PRIMARIES: {
    rule: 'A branch has one primary. Where the service shows two, its state is corrupt.',
    example: 'ep-… and ep-… are both read_write computes of main',
    wayOut: 'Find out in the console which one is in use, and ask the support of the service.',
  },
  E_PRIMARY_TAKEN: {
    rule: 'A branch can have only one primary.',
    example: 'main: { primary: absent }',
    wayOut: 'Declare the existing primary as absent, or pin it to another branch.',
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
    rule: 'max_connections follows the size.',
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
    rule: 'The API cannot change the type of a compute, so it is replaced by a new one.',
    example: "a replica's id under primary",
    wayOut: 'After the apply, put the new id into the manifest.',
  },
  W_POLICY_REMOVED: {
    rule: 'What the base protects, or does not prune, applies to an untrusted pull request as well.',
    example: 'a pull request from a fork that takes `protect: true` out',
    wayOut: 'Decide whether the policy may be removed before merging: after the merge it no longer applies.',
  },
  W_RENAMED: {
    rule: 'A replica is known by its name, so a renamed key declares a new replica.',
    example: 'replicas: { olap: … }, and a live replica `bi` that no manifest declares any more',
    wayOut: 'Write renamedFrom: bi under olap to rename the live replica instead.',
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
