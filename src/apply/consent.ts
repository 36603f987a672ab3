/** Decides which steps may run, before any of them does. */
import type { Consent, FailureReason, Plan, Step } from '../model/index.ts'

export interface ConsentPolicy {
  readonly allow: ReadonlySet<Consent>
}

export interface Judgement {
  readonly step: string
  readonly allowed: boolean
  readonly reason?: FailureReason
  /** Consents that are missing. */
  readonly missing?: readonly Consent[]
  /** A sentence for display; absent if the step is allowed. */
  readonly message?: string
}

/** In the plan's order. A protected step is refused whatever the policy allows. */
export const judgeConsent = (plan: Plan, policy: ConsentPolicy): readonly Judgement[] =>
  plan.steps.map((step) => judge(step, policy))

const judge = (step: Step, { allow }: ConsentPolicy): Judgement => {
  if (step.refused !== undefined) {
    return { step: step.id, allowed: false, reason: 'protected', message: `Refused: ${step.refused}.` }
  }
  const missing = step.consents.filter((consent) => !allow.has(consent))
  if (missing.length === 0) return { step: step.id, allowed: true }
  return {
    step: step.id,
    allowed: false,
    reason: 'not-consented',
    missing,
    message: `Not allowed without --allow ${missing.join(',')}.`,
  }
}
