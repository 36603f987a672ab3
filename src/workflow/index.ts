export { type Adoption, adoptFile, nothingToImport } from './adopt.ts'
export {
  type Applied,
  type ApplyRequest,
  allowed,
  apply,
  type PlannedApply,
  type Watcher,
} from './apply.ts'
export { manifestsAt } from './at-ref.ts'
export { isUsableBase, planOfBase } from './base.ts'
export {
  type Connection,
  connect,
  type OpenClient,
  openReadClient,
  openWriteClient,
  type SandboxTarget,
  type Target,
  withClient,
} from './connect.ts'
export { costLive } from './cost.ts'
export {
  DEFAULT_PATHS,
  fileNotes,
  type Manifests,
  onlyProjects,
  pathsOf,
  readManifests,
  withPolicies,
} from './manifests.ts'
export { namesOf, type Planned, type PlanOptions, planLive, planRecorded, planSnapshot } from './plan.ts'
export { checkOverrides, type ReviewSettings, withEarlier, withReview } from './review-settings.ts'
export { digestOf, encodeSavedPlan, manifestPaths, readSavedPlan, type SavedPlan, savedPlanOf } from './saved-plan.ts'
export {
  branchMatcher,
  matchingProjects,
  select,
  selectionNote,
  selectionWords,
  withNames,
} from './selection.ts'
export { encodeSnapshot, readSnapshot } from './snapshot-file.ts'
export { checkOffline } from './validate.ts'

/** Loads the rehearsal only when it is needed, because it imports the whole sandbox. */
export const rehearse: typeof import('./rehearse.ts').rehearse = async (planned, clock) =>
  (await import('./rehearse.ts')).rehearse(planned, clock)
export { POLICY_FILES, releasedPolicies } from './policies.ts'
