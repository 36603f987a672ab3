/** Problems in a manifest, or conflicts between a manifest and the live project. */
import { compare, defined } from '../base/index.ts'
import type { DiagnosticCode } from './generated/diagnostic-code.ts'

export type Severity = 'error' | 'warning'

/** A location in a file. Lines and columns count from 1; `length` is in characters, at least 1. */
export interface Source {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly length: number
}

/**
 * `code` is stable across versions. `message` is one or two sentences. `hint` names the nearest valid value or the next
 * step.
 */
export interface Diagnostic {
  readonly severity: Severity
  readonly code: DiagnosticCode
  readonly message: string
  readonly hint?: string
  /** Absent if the problem does not belong to a file (for example, there are no manifests). */
  readonly source?: Source
}

/** An error. */
export const problem = (code: DiagnosticCode, message: string, hint?: string, source?: Source): Diagnostic =>
  defined({ severity: 'error' as const, code, message, hint, source })

export const warning = (code: DiagnosticCode, message: string, hint?: string, source?: Source): Diagnostic => ({
  ...problem(code, message, hint, source),
  severity: 'warning',
})

export const hasErrors = (diagnostics: readonly Diagnostic[]): boolean =>
  diagnostics.some(({ severity }) => severity === 'error')

/** The position of a problem with a whole file. */
export const startOfFile = (file: string): Source => ({ file, line: 1, column: 1, length: 1 })

/** `shop.yaml:3:5` */
export const sourceText = ({ file, line, column }: Source): string => `${file}:${line}:${column}`

/** Sorts by file, line and column. Absent sources come first. */
export const compareSource = (a: Source | undefined, b: Source | undefined): number => {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined)
  return compare(a.file, b.file) || a.line - b.line || a.column - b.column
}

export const bySource = (a: Diagnostic, b: Diagnostic): number =>
  compareSource(a.source, b.source) || compare(a.code, b.code) || compare(a.message, b.message)
