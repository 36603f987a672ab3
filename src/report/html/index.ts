/** Apart from the other renderers, so that only what makes a page loads the HTML library. */
export { type AgentPage, agentPage } from './agent-page.ts'
export { applyPage } from './apply-page.ts'
export { costPage } from './cost-page.ts'
export type { PageFrame } from './page.ts'
export { planPage } from './plan-page.ts'
