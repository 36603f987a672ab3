export { commitOf, fetchCommit, git, parentsOf, remoteCommit } from '../base/index.ts'
export { manifestsAt } from './at-ref.ts'
export { type BaseComparison, compareWithBase, planOfBase, removedProjects } from './base.ts'
export { allowed, keepToBudgets } from './consents.ts'
export { type Interruption, onInterrupt } from './interruption.ts'

export { type Look, type LookOptions, look, lookAt } from './look.ts'
export {
  DEFAULT_PATHS,
  type ManifestOptions,
  type Manifests,
  pathsOf,
  readManifests,
  seedNote,
  withoutProjects,
} from './manifests.ts'
export { type Merged, mergePlanFiles, mergePresentPlans } from './merge-plans.ts'
export { applicablePlan, coveredBy, nothingChanged } from './partial.ts'
export { checkSavedPlan, encodeSavedPlan, manifestsOf, readPlanFile } from './saved-plan.ts'

export { keepShard, shardOf } from './shard.ts'
export { encodeSnapshot, readSnapshot } from './snapshot-file.ts'
