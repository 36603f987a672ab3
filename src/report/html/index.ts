/** A separate entry point, so that the HTML library is loaded only when a page is written. */
export { type AgentPage, agentPage } from './agent-page.ts'
export { agentProjectPage, type PastApplies } from './agent-project-page.ts'
export { costPage } from './cost-page.ts'
export type { PageFrame } from './page.ts'
export { planPage } from './plan-page.ts'
export type { PlanRun } from './run.ts'
