/** The package's own API: docs/api.md. The command line and the Action call the same functions underneath. */
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
export { EspalierError } from './model/index.ts'
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
