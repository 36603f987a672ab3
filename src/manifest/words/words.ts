import { defined } from '../../base/index.ts'
import type { ManifestCode } from '../../model/index.ts'

/** The text of a diagnostic. */
export interface Words {
  readonly code: ManifestCode
  readonly message: string
  readonly hint?: string
  /** If the problem is at another key of the same map: that key. */
  readonly at?: string
}

export const words = (code: ManifestCode, message: string, hint?: string): Words => defined({ code, message, hint })
