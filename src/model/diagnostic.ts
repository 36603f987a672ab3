/** Problems in a manifest, or in how it relates to the live project. */

import type { DiagnosticCode } from './diagnostic-code.ts'

export type Severity = 'error' | 'warning'

/** A location in a file. Lines and columns count from 1; `length` is in characters, at least 1. */
export interface Source {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly length: number
}

/** `code` is stable across versions; `message` is one sentence; `hint` names the nearest valid value or next step. */
export interface Diagnostic {
  readonly severity: Severity
  readonly code: DiagnosticCode
  readonly message: string
  readonly hint?: string
  /** Absent if the problem does not belong to a file (for example, there are no manifests). */
  readonly source?: Source
}

export const hasErrors = (diagnostics: readonly Diagnostic[]): boolean =>
  diagnostics.some(({ severity }) => severity === 'error')
