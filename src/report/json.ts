/** Values as JSON. */
import { type Diagnostic, type Origin, type Plan, plainJson } from '../model/index.ts'

/** The plan itself, as `schemas/plan.schema.json` describes it, with what else is known of it. */
export const jsonPlan = (plan: Plan, extra: PlanExtra = {}): string => `${plainJson({ ...plan, ...extra }, 2)}\n`

export interface PlanExtra {
  /** Where it was compared with a base. */
  readonly origin?: PlanOrigin
  /** Where it is of a part of the fleet: `2/5`. */
  readonly shard?: string
}

/** The changes, parted by whether the base's manifests ask for them as well. */
export interface PlanOrigin extends Origin {
  /** The commit of the base. */
  readonly base: string
}

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
