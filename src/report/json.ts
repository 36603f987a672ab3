/** Values as JSON. */
import type { Diagnostic, Plan } from '../model/index.ts'
import { plainJson } from './plain-text.ts'

/** The plan itself, as `schemas/plan.schema.json` describes it. */
export const jsonPlan = (plan: Plan): string => `${plainJson(plan, 2)}\n`

/** One object with `diagnostics`, each flat; `extra` stands beside them. */
export const jsonDiagnostics = (
  diagnostics: readonly Diagnostic[],
  extra: Readonly<Record<string, unknown>> = {},
): string => {
  const flat = diagnostics.map(({ severity, code, message, hint, source }) => ({
    severity,
    code,
    message,
    hint: hint ?? null,
    file: source?.file ?? null,
    line: source?.line ?? null,
    column: source?.column ?? null,
    length: source?.length ?? null,
  }))
  return `${plainJson({ diagnostics: flat, ...extra }, 2)}\n`
}
