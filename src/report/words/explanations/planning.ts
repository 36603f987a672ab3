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
    rule: 'The project must exist, and the API key must have access to it.',
    mistake: 'project: quiet-rivr-12345678',
    correction: 'project: quiet-river-12345678',
    wayOut: 'Correct the id, or use a key that has access to the project.',
  },
  E_PROJECT_UNREADABLE: {
    rule: 'A project can be planned only if it can be read from the control API.',
    example: 'the API returns status 403 or 500, or a response without the documented format',
    wayOut:
      "The service's message gives the reason. The other projects are still planned, and apply --keep-going applies them.",
  },
  E_BRANCH_UNKNOWN: {
    rule: 'A declared branch must exist, because Espalier does not create branches.',
    mistake: 'branches:\n  mian: { primary: {} }',
    correction: 'branches:\n  main: { primary: {} }',
    wayOut: 'Create the branch or correct its name. For short-lived branches, use a rule instead.',
  },
  E_PIN_UNKNOWN: {
    rule: 'A pin must be the id of an existing compute.',
    mistake: 'branches:\n  main: { primary: { id: ep-nowhere-a1b2c3 } }',
    correction: 'branches:\n  main: { primary: { id: ep-main-a1b2c3 } }',
    wayOut: 'Remove the pin to have a compute matched or created. If the compute was replaced, pin the new id.',
  },
  E_BRANCH_AMBIGUOUS: {
    rule: 'A branch name in a manifest must match exactly one branch.',
    mistake: 'branches:\n  feature: { primary: {} }',
    correction: 'branches:\n  br-feature-1: { primary: {} }',
    wayOut: 'Use the id of the branch, or rename the other branches.',
  },
  E_TWO_PRIMARIES: {
    rule: 'A branch can have only one primary. If the service reports two, its state is corrupt.',
    example: 'ep-… and ep-… are both read_write computes of main',
    wayOut: "Check in the service's console which of the two is in use, and contact the service's support.",
  },
  E_PRIMARY_TAKEN: {
    rule: 'A branch can have only one primary.',
    mistake: 'branches:\n  main: { primary: { id: ep-staging-d4e5f6 } }',
    correction:
      'branches:\n  main: { primary: { id: ep-staging-d4e5f6 } }\n  spare: { primary: { id: ep-main-a1b2c3 } }',
    wayOut: 'Move the existing primary by pinning it to another branch, or set `prune: true` to delete it.',
  },
  E_MOVE_CYCLE: {
    rule: 'Primaries can swap branches only if one of them can be moved to an empty branch temporarily.',
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
    rule: 'If a live replica matches a declared one, it is adopted and no new replica is created.',
    example: 'the manifest declares replicas: { reporting: … }, and the branch has one live replica without a name',
    wayOut: 'If this is the wrong replica, pin the right one by its id.',
  },
  W_CONNECTIONS_SHRINK: {
    rule: 'max_connections depends on the size of the compute, so a smaller compute accepts fewer connections.',
    example: 'a change from 2 CU to 1 CU lowers max_connections from 839 to 419',
    wayOut: 'Check that clients do not need more connections.',
  },
  W_NAME_TAKEN: {
    rule: 'A compute name is only a label. The service does not require names to be unique.',
    example: 'two replicas named reporting',
    wayOut: 'Rename one of the two, or pin both by their ids.',
  },
  W_WINDOW_CHANGED: {
    rule: 'Until the pull request is merged, the restart window on its base branch applies.',
    example: 'a pull request sets restartWindow: always',
    wayOut: 'Check that the new window is intended.',
  },
  W_MOVE_TO_EXPIRING: {
    rule: 'When a branch expires, the service deletes it together with its computes.',
    example: 'a pin under preview/x, which expires tomorrow',
    wayOut: 'Move the compute to a branch that does not expire, or remove the expiry of this one.',
  },
  W_PROTECT_EXPIRING: {
    rule: '`protect: true` prevents deletion by Espalier, but not by the service.',
    example: 'protect: true on a branch that expires tomorrow',
    wayOut: 'Remove the expiration of the branch, or remove `protect`.',
  },
  W_PIN_REPLACED: {
    rule: 'The API cannot change the type of a compute, so the compute is replaced by a new one.',
    example: 'the id of a replica is pinned under primary',
    wayOut: 'After the apply, write the id of the new compute into the manifest.',
  },
  W_POLICY_REMOVED: {
    rule: 'An untrusted pull request is planned with the protection and prune settings of its base branch, whatever its own manifests say.',
    example: 'a pull request from a fork that removes `protect: true`',
    wayOut: 'Before you merge, decide whether the setting may be removed. After the merge, it no longer applies.',
  },
  W_RENAMED: {
    rule: 'A replica is identified by its name, so renaming its key declares a new replica.',
    mistake: 'branches:\n  main: { primary: {}, replicas: { olap: { size: 1 } } }',
    correction: 'branches:\n  main: { primary: {}, replicas: { olap: { renamedFrom: bi, size: 1 } } }',
    wayOut: 'To rename the live replica instead of creating one, declare its previous name, such as renamedFrom: bi.',
  },
  W_RULE_SHADOWED: {
    rule: 'If several rules match a branch, only the first of them applies.',
    mistake: 'rules:\n  - match: "*"\n    primary: {}\n  - match: spare\n    primary: { size: 2 }',
    correction: 'rules:\n  - match: spare\n    primary: { size: 2 }\n  - match: "*"\n    primary: {}',
    wayOut: 'Move the more specific rule to the front.',
  },
  W_RULE_UNUSED: {
    rule: 'A rule should match at least one live branch.',
    mistake: 'rules:\n  - match: pr-*\n    primary: {}',
    correction: 'rules:\n  - match: spare\n    primary: {}',
    wayOut: 'Ignore this warning if the branches that the rule matches are short-lived.',
  },
}
