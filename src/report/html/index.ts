/** A separate entry point, so that only pages load the HTML library. */
export { type AgentPage, agentPage } from './agent-page.ts'
export { applyPage } from './apply-page.ts'
export { costPage } from './cost-page.ts'
export type { PageFrame } from './page.ts'
export { planPage } from './plan-page.ts'
