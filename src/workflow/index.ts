export { manifestsAt } from './at-ref.ts'
export { commitOf, git } from './git.ts'
export { type Look, type LookOptions, look, planOfBase } from './look.ts'
export { DEFAULT_PATHS, type ManifestOptions, type Manifests, readManifests } from './manifests.ts'
