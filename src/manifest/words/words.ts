import type { ManifestCode } from '../../model/index.ts'

/** What a diagnostic says. */
export interface Words {
  readonly code: ManifestCode
  readonly message: string
  readonly hint?: string
  /** Another key of the same map is where the problem is. */
  readonly at?: string
}
