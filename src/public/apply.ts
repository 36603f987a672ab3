/** Applies a plan with all the checks of the command line. */
import { systemClock } from '../base/index.ts'
import type { ApplyEvent, Consent, Diagnostic, Outcome, Plan } from '../model/index.ts'
import { apply as applyPlanned, savedPlanOf } from '../workflow/index.ts'
import type { WriteClient } from './clients.ts'
import { clients, plans } from './internals.ts'
import type { Planned } from './plan.ts'

export interface ApplyOptions {
  /** What may happen to connections and computes. Default: `['restart']`. */
  readonly allow?: readonly Consent[]
  /** Limits for the plan. Nothing is changed if it exceeds one of them. */
  readonly budgets?: {
    readonly maxRestarts?: number
    readonly maxDeletes?: number
    readonly maxCuIncrease?: number
  }
  /** If some projects cannot be planned, applies the others. */
  readonly keepGoing?: boolean
  /** Ignores restart windows. */
  readonly now?: boolean
  /** Projects processed concurrently. Default 16. */
  readonly concurrency?: number
  /** How long to wait for the operations of a step. Default: ten minutes. */
  readonly operationTimeoutMs?: number
  /** On abort, no new step starts, and running steps complete. */
  readonly signal?: AbortSignal
  /** Path of a journal file. Each event is written before the action it announces. */
  readonly journal?: string
  /** Awaited before the action that the event announces. If it rejects, nothing new starts. */
  readonly onEvent?: (event: ApplyEvent) => void | Promise<void>
}

export type Applied =
  /** Some projects could not be planned, so nothing was changed: see `keepGoing`. */
  | { readonly kind: 'unplannable'; readonly diagnostics: readonly Diagnostic[]; readonly plan: Plan }
  | { readonly kind: 'ended'; readonly plan: Plan; readonly outcome: Outcome }

/**
 * Applies exactly this plan, or nothing: the projects are read and planned again first.
 *
 * @throws {EspalierError} `E_STALE` if the new plan differs; `E_BUDGET`; `E_JOURNAL`.
 */
export const apply = async (
  client: WriteClient,
  planned: Planned,
  { allow = ['restart'], keepGoing = false, now, onEvent, ...options }: ApplyOptions = {},
): Promise<Applied> => {
  const { plan, diagnostics } = planned
  const api = clients.of(client)
  if (!('send' in api)) throw new TypeError('`apply` requires a client from createWriteClient.')
  const inside = plans.of(planned)
  if (diagnostics.length > 0 && !keepGoing) return { kind: 'unplannable', diagnostics, plan }
  const applied = await applyPlanned({
    ...options,
    manifests: inside.manifests,
    saved: savedPlanOf(inside),
    ignoreWindows: now,
    open: async () => ({ api, close: async () => undefined }),
    clock: systemClock,
    consent: { allow: new Set(allow) },
    watch: () => ({ event: async (event) => onEvent?.(event), end: async () => undefined }),
  })
  if (applied.kind === 'ended' || applied.kind === 'unplannable') return applied
  throw new Error(`A plan of ${applied.kind} manifests was applied.`)
}
