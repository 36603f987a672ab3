/** Explanations of all codes except the codes for manifests, which are explained in src/manifest. */
import { IMPACT_WORDS, IMPACTS, type Impact, REASONS, type Reason } from '../../../model/index.ts'
import { type Explanation, explanationText } from './explanation.ts'
import { LIMITS } from './limits.ts'
import { OF_FAILURE, OF_IMPACT } from './outcomes.ts'
import { PLANNING } from './planning.ts'
import { RUNNING } from './running.ts'
import { SANDBOX } from './sandbox.ts'

export { type Explanation, explanationText }

const ofImpact = (impact: Impact): Explanation => ({ rule: IMPACT_WORDS[impact], ...OF_IMPACT[impact] })

const ofReason = (reason: Reason): Explanation => ({
  rule: `In a plan: ${REASONS[reason]}.`,
  example: `why: ${REASONS[reason]} (${reason})`,
})

/** All explanations, by code. */
export const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  ...PLANNING,
  ...RUNNING,
  ...SANDBOX,
  ...LIMITS,
  ...OF_FAILURE,
  ...Object.fromEntries(IMPACTS.map((impact) => [impact, ofImpact(impact)])),
  ...Object.fromEntries((Object.keys(REASONS) as Reason[]).map((reason) => [reason, ofReason(reason)])),
}
