/** The API of the npm package, described in docs/reference/javascript.md. Like the CLI and the Action, it is built on src/workflow. */

export { EspalierError } from './base/index.ts'
export type {
  ApplyEvent,
  Change,
  Consent,
  Diagnostic,
  Observed,
  Origin,
  Outcome,
  Plan,
  Step,
  StepOutcome,
} from './model/index.ts'
export { type Applied, type ApplyOptions, apply } from './public/apply.ts'
export {
  type ClientOptions,
  createReadClient,
  createWriteClient,
  type ReadClient,
  type WriteClient,
} from './public/clients.ts'
export {
  type LoadOptions,
  loadManifests,
  type Manifests,
  observe,
  type Planned,
  type PlanOptions,
  plan,
  planFrom,
  savePlan,
} from './public/plan.ts'
export { render, type TextStyle } from './public/render.ts'
