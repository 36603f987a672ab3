export { manifestSchema, sharedSchema } from './definition/manifest.ts'
export { POLICY_SCHEMA } from './definition/policy.ts'
export { isManifestPath, type LocatedFile, loadManifests, readFiles } from './load.ts'
export { lineReader, MAX_FILE_BYTES, parseManifests } from './parse.ts'
export { declaredPolicies, parsePolicies } from './read/policies.ts'
export type { LoadedManifests, ManifestFile } from './types.ts'
export { NO_MANIFESTS_HINT } from './words/words.ts'
export { type AdoptConflict, type Adopted, type AdoptOptions, adoptInto } from './write/adopt.ts'
export {
  type Exported,
  type ExportOptions,
  exportProject,
  type InferredRule,
  isChosen,
} from './write/export-project.ts'
export { formatManifest } from './write/format.ts'
export { type ResolvedManifests, resolvedManifests, resolvedText } from './write/resolved.ts'
