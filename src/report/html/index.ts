/** A second door of the room: the pages bring an HTML library, which nothing but them should load. */
export { type ApplyPage, applyPage } from './apply-page.ts'
export type { PageFrame } from './page.ts'
export { type PlanPageOptions, planPage } from './plan-page.ts'
