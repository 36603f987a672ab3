/**
 * Codes from planning against the live project.
 *
 * Mistakes and corrections are manifests without `version` and `project`. Their project has the branches main (primary
 * ep-main-a1b2c3, replica bi), staging (primary ep-staging-d4e5f6), spare (empty), and two branches named feature.
 */
import type { PlanCode } from '../../../model/index.ts'
import type { Explanation } from './explanation.ts'

/** Two codes are also used for manifests, and explained there. */
type Planning = Exclude<PlanCode, 'E_TWO_CLAIMS' | 'E_SCALE_TO_ZERO_SIZE'>

export const PLANNING: Readonly<Record<Planning, Explanation>> = {
  E_PROJECT_UNKNOWN: {
    rule: 'The project must exist, and the key must have access to it.',
    mistake: 'project: quiet-rivr-12345678',
    correction: 'project: quiet-river-12345678',
    wayOut: 'Correct the id, or use a key of that project.',
  },
  E_PROJECT_UNREADABLE: {
    rule: 'A project can be planned only if the control API can read it.',
    example: 'status 403, status 500, or an answer that is not as documented',
    wayOut: "The service's message says why. The other projects are planned; apply --keep-going applies them.",
  },
  E_BRANCH_UNKNOWN: {
    rule: 'Declared branches must exist: Espalier does not create branches.',
    mistake: 'branches:\n  mian: { primary: {} }',
    correction: 'branches:\n  main: { primary: {} }',
    wayOut: 'Create the branch, correct its name, or use a rule for short-lived branches.',
  },
  E_PIN_UNKNOWN: {
    rule: 'A pin must be the id of an existing compute.',
    mistake: 'branches:\n  main: { primary: { id: ep-nowhere-a1b2c3 } }',
    correction: 'branches:\n  main: { primary: { id: ep-main-a1b2c3 } }',
    wayOut: 'Remove the pin, so that a compute is matched or created; after a replacement, pin the new id.',
  },
  E_BRANCH_AMBIGUOUS: {
    rule: 'A branch name in a manifest must match exactly one branch.',
    mistake: 'branches:\n  feature: { primary: {} }',
    correction: 'branches:\n  br-feature-1: { primary: {} }',
    wayOut: 'Write the id of the branch, or rename the others.',
  },
  E_TWO_PRIMARIES: {
    rule: 'A branch can have only one primary. If the service shows two, its state is corrupt.',
    example: 'ep-… and ep-… are both read_write computes of main',
    wayOut: "Check in the console which one is in use, and contact the service's support.",
  },
  E_PRIMARY_TAKEN: {
    rule: 'A branch can have only one primary.',
    mistake: 'branches:\n  main: { primary: { id: ep-staging-d4e5f6 } }',
    correction:
      'branches:\n  main: { primary: { id: ep-staging-d4e5f6 } }\n  spare: { primary: { id: ep-main-a1b2c3 } }',
    wayOut: 'Pin the existing primary to another branch, or set `prune: true` to delete it.',
  },
  E_MOVE_CYCLE: {
    rule: 'Primaries can swap branches only if one of them can be parked on an empty branch.',
    mistake:
      'branches:\n  main: { primary: { id: ep-staging-d4e5f6 } }\n  staging: { primary: { id: ep-main-a1b2c3 } }',
    correction:
      'parkOn: spare\nbranches:\n  main: { primary: { id: ep-staging-d4e5f6 } }\n  staging: { primary: { id: ep-main-a1b2c3 } }',
    wayOut: 'Name an empty branch with parkOn, or change one of the pins.',
  },
  E_PARK_ON: {
    rule: 'parkOn must name a branch without a primary.',
    mistake:
      'parkOn: main\nbranches:\n  main: { primary: { id: ep-staging-d4e5f6 } }\n  staging: { primary: { id: ep-main-a1b2c3 } }',
    correction:
      'parkOn: spare\nbranches:\n  main: { primary: { id: ep-staging-d4e5f6 } }\n  staging: { primary: { id: ep-main-a1b2c3 } }',
    wayOut: 'Name an empty branch.',
  },
  W_ADOPTED: {
    rule: 'A live replica that matches is adopted; no new one is created.',
    example: 'replicas: { reporting: … }, and one live replica without a name',
    wayOut: 'If this is the wrong replica, pin the right one by its id.',
  },
  W_CONNECTIONS_SHRINK: {
    rule: 'max_connections depends on the size.',
    example: '2 CU to 1 CU: 839 to 419',
    wayOut: 'Check that clients do not need more connections.',
  },
  W_NAME_TAKEN: {
    rule: 'Compute names are labels: the service does not enforce unique names.',
    example: 'two replicas named reporting',
    wayOut: 'Rename one of the two, or pin them.',
  },
  W_WINDOW_CHANGED: {
    rule: "The base's restart window applies until the change is merged.",
    example: 'restartWindow: always, in a pull request',
    wayOut: 'Check that the new window is intended.',
  },
  W_MOVE_TO_EXPIRING: {
    rule: 'A branch that expires is deleted with its computes.',
    example: 'a pin under preview/x, which expires tomorrow',
    wayOut: 'Move the compute to a branch that does not expire, or remove the expiry of this one.',
  },
  W_PROTECT_EXPIRING: {
    rule: '`protect: true` stops Espalier, not the service.',
    example: 'protect: true on a branch that expires tomorrow',
    wayOut: 'Remove the expiry of the branch, or `protect`.',
  },
  W_PIN_REPLACED: {
    rule: 'The API cannot change the type of a compute, so it is replaced by a new one.',
    example: "a replica's id under primary",
    wayOut: 'After the apply, put the new id into the manifest.',
  },
  W_POLICY_REMOVED: {
    rule: "The base's protection and prune settings also apply to an untrusted pull request.",
    example: 'a pull request from a fork that removes `protect: true`',
    wayOut: 'Before merging, decide whether the setting may be removed: after the merge, it no longer applies.',
  },
  W_RENAMED: {
    rule: 'Replicas are identified by name, so a renamed key declares a new replica.',
    mistake: 'branches:\n  main: { primary: {}, replicas: { olap: { size: 1 } } }',
    correction: 'branches:\n  main: { primary: {}, replicas: { olap: { renamedFrom: bi, size: 1 } } }',
    wayOut: 'To rename the live replica instead, declare its previous name, such as renamedFrom: bi.',
  },
  W_RULE_SHADOWED: {
    rule: 'If several rules match a branch, the first one wins.',
    mistake: 'rules:\n  - match: "*"\n    primary: {}\n  - match: spare\n    primary: { size: 2 }',
    correction: 'rules:\n  - match: spare\n    primary: { size: 2 }\n  - match: "*"\n    primary: {}',
    wayOut: 'Put the narrower rule first.',
  },
  W_RULE_UNUSED: {
    rule: 'A rule should match at least one live branch.',
    mistake: 'rules:\n  - match: pr-*\n    primary: {}',
    correction: 'rules:\n  - match: spare\n    primary: {}',
    wayOut: 'Ignore this if the branches that it matches come and go.',
  },
}
