/** A second door of the room: the pages bring an HTML library, which nothing but them should load. */
export { applyPage } from './apply-page.ts'
export { costPage } from './cost-page.ts'
export { planPage } from './plan-page.ts'
