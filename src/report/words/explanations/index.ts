/** Explains all codes except those of manifests, which src/manifest explains. */
import { IMPACT_WORDS, IMPACTS, type Impact, REASONS, type Reason } from '../../../model/index.ts'
import type { Explanation } from './explanation.ts'
import { LIMITS } from './limits.ts'
import { type Mistake, OF_PLANS, OF_RUNS } from './mistakes.ts'
import { OF_FAILURE, OF_IMPACT } from './outcomes.ts'
import { PLANNING } from './planning.ts'
import { RUNNING } from './running.ts'

export type { Explanation, Mistake }

/** By code: a mistake and its correction. */
export const MISTAKES: Readonly<Record<string, Mistake>> = { ...OF_PLANS, ...OF_RUNS }

const ofImpact = (impact: Impact): Explanation => ({ rule: IMPACT_WORDS[impact], ...OF_IMPACT[impact] })

const ofReason = (reason: Reason): Explanation => ({
  rule: `In a plan: ${REASONS[reason]}.`,
  example: `why: ${REASONS[reason]} (${reason})`,
})

/** By code. */
export const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  ...PLANNING,
  ...RUNNING,
  ...LIMITS,
  ...OF_FAILURE,
  ...Object.fromEntries(IMPACTS.map((impact) => [impact, ofImpact(impact)])),
  ...Object.fromEntries((Object.keys(REASONS) as Reason[]).map((reason) => [reason, ofReason(reason)])),
}

export const explanationText = (code: string, { rule, example, wayOut }: Explanation): string =>
  `${code}\n\n  rule     ${rule}\n  example  ${example}\n${wayOut === undefined ? '' : `  way out  ${wayOut}\n`}`
