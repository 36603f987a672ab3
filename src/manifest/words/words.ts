import { defined } from '../../base/index.ts'
import type { DiagnosticCode } from '../../model/index.ts'

/** The text of a diagnostic. */
export interface Words {
  readonly code: DiagnosticCode
  readonly message: string
  readonly hint?: string
  /** The key to report the problem at, if it is another key of the same map. */
  readonly at?: string
}

export const words = (code: DiagnosticCode, message: string, hint?: string): Words => defined({ code, message, hint })
