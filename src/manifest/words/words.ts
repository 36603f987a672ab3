import type { DiagnosticCode } from '../codes.ts'

/** What a diagnostic says. */
export interface Words {
  readonly code: DiagnosticCode
  readonly message: string
  readonly hint?: string
  /** Another key of the same map is where the problem is. */
  readonly at?: string
}
