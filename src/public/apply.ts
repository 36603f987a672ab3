/** Applies a plan with the same checks as `espalier apply`. */
import { systemClock } from '../base/index.ts'
import type { ApplyEvent, Consent, Diagnostic, Outcome, Plan } from '../model/index.ts'
import { apply as applyPlanned, savedPlanOf } from '../workflow/index.ts'
import type { WriteClient } from './clients.ts'
import { clients, plans } from './internals.ts'
import type { Planned } from './plan.ts'

export interface ApplyOptions {
  /** The kinds of disruption that steps may cause. Default: `['restart']`. */
  readonly allow?: readonly Consent[]
  /** Whether to run steps now even if their restart windows are closed. Default: no. */
  readonly now?: boolean
  /** How many projects to process at the same time. Default: 16. */
  readonly concurrency?: number
  /** How long to wait for the operations that a step starts. Default: ten minutes. */
  readonly operationTimeoutMs?: number
  /** When this is aborted, running steps complete, and new steps start only to give a branch its primary back. */
  readonly signal?: AbortSignal
  /** Path of a journal file. Each event is written to it before the action that the event announces. */
  readonly journal?: string
  /** Awaited before the action that the event announces. If the promise rejects, no new step starts. */
  readonly onEvent?: (event: ApplyEvent) => void | Promise<void>
}

export type Applied =
  /** No project could be planned, so nothing was changed. */
  | { readonly kind: 'unplannable'; readonly diagnostics: readonly Diagnostic[]; readonly plan: Plan }
  | { readonly kind: 'ended'; readonly plan: Plan; readonly outcome: Outcome }

/**
 * Applies exactly this plan, or nothing: the projects are read and planned again first.
 *
 * @throws {EspalierError} `E_STALE` if the new plan differs; `E_OUT`.
 */
export const apply = async (
  client: WriteClient,
  planned: Planned,
  { allow = ['restart'], now, onEvent, ...options }: ApplyOptions = {},
): Promise<Applied> => {
  const { plan, diagnostics } = planned
  const api = clients.of(client)
  if (!('sendUnless' in api)) throw new TypeError('`apply` requires a client from createWriteClient.')
  const inside = plans.of(planned)
  if (diagnostics.length > 0 && plan.projects.length === 0) return { kind: 'unplannable', diagnostics, plan }
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
