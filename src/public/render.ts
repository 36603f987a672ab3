/** Renders plans and outcomes as text. */
import { jsonPlan } from '../apply/index.ts'
import type { Diagnostic, Outcome, Plan } from '../model/index.ts'
import { markdownPlan, terminalDiagnostics, terminalOutcome, terminalPlan } from '../report/index.ts'
import type { Planned } from './plan.ts'

export interface TextStyle {
  /** Whether to use colors. Default: no. */
  readonly color?: boolean
  /** Width of the text, in columns. Default: 100. */
  readonly width?: number
}

export interface BaseName {
  /** Display name of the base branch, such as `main`. */
  readonly ref?: string
}

const styleOf = ({ color = false, width = 100 }: TextStyle) => ({ color, width })

const sinceOf = ({ origin }: Planned, { ref = 'the base' }: BaseName) =>
  origin === undefined ? {} : { since: { ref, origin } }

export const render = {
  /** The text that `espalier plan` prints. */
  terminal: (planned: Planned, options: TextStyle & BaseName = {}): string =>
    terminalPlan(planned.plan, styleOf(options), {
      takenAt: planned.observed.takenAt,
      now: new Date().toISOString(),
      ...sinceOf(planned, options),
    }),
  /** Markdown for a pull request, a chat or a ticket. */
  markdown: (planned: Planned, options: BaseName = {}): string =>
    markdownPlan(planned.plan, { takenAt: planned.observed.takenAt, ...sinceOf(planned, options) }),
  /** JSON that conforms to `schemas/plan.schema.json`. */
  json: ({ plan }: Planned): string => jsonPlan(plan),
  /** The outcome of each step, as `espalier apply` prints it. */
  outcome: (plan: Plan, outcome: Outcome, options: TextStyle = {}): string =>
    terminalOutcome(plan, outcome, styleOf(options)),
  /** Errors and warnings with their source positions. */
  diagnostics: (diagnostics: readonly Diagnostic[], options: TextStyle = {}): string =>
    terminalDiagnostics(diagnostics, styleOf(options), () => undefined),
}
