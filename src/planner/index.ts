export { declaredComputes } from './declarations.ts'
export { differenceKey, type Fact, factsOf, ruleKey } from './facts.ts'
export { originOf, whoMoved } from './origin.ts'
export {
  type ComputePermissions,
  permissionsIn,
  type Safeguards,
  safeguardsIn,
} from './permissions.ts'
export { plan, projectIds, unreadProjects } from './plan.ts'
export type { PlanOptions } from './plan-project.ts'
export { releasedSince } from './released.ts'
export type { Selected } from './select-drafts.ts'
export { withEstimates } from './summary.ts'
