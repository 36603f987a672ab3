export { declaredComputes } from './declarations.ts'
export { differenceKey, type Fact, factsOf } from './facts.ts'
export { originOf, releasedSince, whoMoved } from './origin.ts'
export {
  type ComputePermissions,
  permissionsIn,
  removedSafeguards,
  type Safeguards,
  safeguardsIn,
} from './permissions.ts'
export { plan, projectIds, unreadProjects } from './plan.ts'
export type { PlanOptions } from './plan-project.ts'
export type { Selected } from './select-drafts.ts'
export { withEstimates } from './summary.ts'
