/**
 * Explains the codes that can occur when manifests are planned against the live project.
 *
 * `mistake` and `correction` are manifests without `version` and `project`. In the project that they refer to, the
 * branch main has the primary ep-main-a1b2c3 and the replica bi, staging has the primary ep-staging-d4e5f6, spare has
 * no computes, and two branches are named feature.
 */
import type { PlanCode } from '../../../model/index.ts'
import type { Explanation } from './explanation.ts'

/** Without the two codes that can also occur when manifests are validated: src/manifest/codes.ts explains them. */
type Planning = Exclude<PlanCode, 'E_TWO_CLAIMS' | 'E_SCALE_TO_ZERO_SIZE'>

export const PLANNING: Readonly<Record<Planning, Explanation>> = {
  E_PROJECT_UNKNOWN: {
    rule: 'The project must exist, and the key must have access to it.',
    mistake: 'project: quiet-rivr-12345678',
    correction: 'project: quiet-river-12345678',
    wayOut: 'Correct the id, or use a key that has access to the project.',
  },
  E_PROJECT_UNREADABLE: {
    rule: 'A project can be planned only if the control API can read it.',
    example: 'status 403, status 500, or a response that does not have the documented format',
    wayOut:
      "The service's message gives the reason. The other projects are still planned; apply --keep-going applies them.",
  },
  E_BRANCH_UNKNOWN: {
    rule: 'The branches that a manifest declares must exist, because Espalier does not create branches.',
    mistake: 'branches:\n  mian: { primary: {} }',
    correction: 'branches:\n  main: { primary: {} }',
    wayOut: 'Create the branch, correct its name, or use a rule for short-lived branches.',
  },
  E_PIN_UNKNOWN: {
    rule: 'A pin must be the id of an existing compute.',
    mistake: 'branches:\n  main: { primary: { id: ep-nowhere-a1b2c3 } }',
    correction: 'branches:\n  main: { primary: { id: ep-main-a1b2c3 } }',
    wayOut:
      'Remove the pin, so that Espalier finds or creates a compute. After a replacement, pin the id of the new compute.',
  },
  E_BRANCH_AMBIGUOUS: {
    rule: 'A branch name in a manifest must match exactly one branch.',
    mistake: 'branches:\n  feature: { primary: {} }',
    correction: 'branches:\n  br-feature-1: { primary: {} }',
    wayOut: 'Write the id of the branch instead of its name, or rename the other branches.',
  },
  E_TWO_PRIMARIES: {
    rule: 'A branch can have only one primary. If the service returns two, its own state is corrupt.',
    example: 'ep-… and ep-… are both read_write computes of main',
    wayOut: "Check in the service's console which of the two is in use, and contact the service's support.",
  },
  E_PRIMARY_TAKEN: {
    rule: 'A branch can have only one primary.',
    mistake: 'branches:\n  main: { primary: { id: ep-staging-d4e5f6 } }',
    correction:
      'branches:\n  main: { primary: { id: ep-staging-d4e5f6 } }\n  spare: { primary: { id: ep-main-a1b2c3 } }',
    wayOut: 'Pin the existing primary to another branch, or set `prune: true` to delete it.',
  },
  E_MOVE_CYCLE: {
    rule: 'Primaries can swap branches only if one of them can be parked on a branch without a primary.',
    mistake:
      'branches:\n  main: { primary: { id: ep-staging-d4e5f6 } }\n  staging: { primary: { id: ep-main-a1b2c3 } }',
    correction:
      'parkOn: spare\nbranches:\n  main: { primary: { id: ep-staging-d4e5f6 } }\n  staging: { primary: { id: ep-main-a1b2c3 } }',
    wayOut: 'Name a branch without a primary in parkOn, or change one of the pins.',
  },
  E_PARK_ON: {
    rule: 'parkOn must name a branch without a primary.',
    mistake:
      'parkOn: main\nbranches:\n  main: { primary: { id: ep-staging-d4e5f6 } }\n  staging: { primary: { id: ep-main-a1b2c3 } }',
    correction:
      'parkOn: spare\nbranches:\n  main: { primary: { id: ep-staging-d4e5f6 } }\n  staging: { primary: { id: ep-main-a1b2c3 } }',
    wayOut: 'Name a branch without a primary.',
  },
  W_ADOPTED: {
    rule: 'If a live replica matches a declared one, Espalier adopts it instead of creating a new replica.',
    example: 'the manifest declares replicas: { reporting: … }, and the only live replica has no name',
    wayOut: 'If Espalier adopts the wrong replica, pin the right one by its id.',
  },
  W_CONNECTIONS_SHRINK: {
    rule: 'A smaller compute has a lower max_connections.',
    example: 'a change from 2 CU to 1 CU lowers max_connections from 839 to 419',
    wayOut: 'Check that the clients do not need more connections than the new limit allows.',
  },
  W_NAME_TAKEN: {
    rule: 'Several computes can have the same name, because the service does not require names to be unique.',
    example: 'two replicas named reporting',
    wayOut: 'Rename one of the two, or pin both by their ids.',
  },
  W_WINDOW_CHANGED: {
    rule: 'Until a change of the restart window is merged, the restart window on the base branch applies.',
    example: 'a pull request that sets restartWindow: always',
    wayOut: 'Check that the new window is intended.',
  },
  W_MOVE_TO_EXPIRING: {
    rule: 'When a branch expires, it is deleted together with its computes.',
    example: 'a pin that moves a compute to the branch preview/x, which expires tomorrow',
    wayOut: 'Move the compute to a branch that does not expire, or remove the expiration of the branch.',
  },
  W_PROTECT_EXPIRING: {
    rule: 'With `protect: true`, Espalier does not delete computes, but the service still deletes an expired branch.',
    example: 'protect: true on a branch that expires tomorrow',
    wayOut: 'Remove the expiration of the branch, or remove `protect`.',
  },
  W_PIN_REPLACED: {
    rule: 'The API cannot change the type of a compute, so Espalier replaces the compute with a new one.',
    example: 'a primary that is pinned to the id of a replica',
    wayOut: 'After the apply, pin the id of the new compute.',
  },
  W_POLICY_REMOVED: {
    rule: 'The `protect` and `prune` settings on the base branch still apply to an untrusted pull request.',
    example: 'a pull request from a fork that removes `protect: true`',
    wayOut: 'Before merging, decide whether the setting may be removed. After the merge, it no longer applies.',
  },
  W_RENAMED: {
    rule: 'Replicas are identified by their names, so renaming the key of a replica declares a new replica.',
    mistake: 'branches:\n  main: { primary: {}, replicas: { olap: { size: 1 } } }',
    correction: 'branches:\n  main: { primary: {}, replicas: { olap: { renamedFrom: bi, size: 1 } } }',
    wayOut: 'To rename the live replica instead, declare its previous name, for example renamedFrom: bi.',
  },
  W_RULE_SHADOWED: {
    rule: 'If several rules match a branch, only the first of them applies.',
    mistake: 'rules:\n  - match: "*"\n    primary: {}\n  - match: spare\n    primary: { size: 2 }',
    correction: 'rules:\n  - match: spare\n    primary: { size: 2 }\n  - match: "*"\n    primary: {}',
    wayOut: 'Put the narrower rule first.',
  },
  W_RULE_UNUSED: {
    rule: 'A rule should match at least one live branch.',
    mistake: 'rules:\n  - match: pr-*\n    primary: {}',
    correction: 'rules:\n  - match: spare\n    primary: {}',
    wayOut: 'Ignore this warning if the rule is for short-lived branches.',
  },
}
