/** Evaluates policies. All policies that match apply; there is no precedence. */
import { defined, didYouMean, EspalierError } from '../base/index.ts'
import type { Policy, PolicyOutcome, PolicyProject, PolicyResult, Source } from '../model/index.ts'
import { type Measure, measure, measurePlan, type PolicyPlan } from './measure.ts'

export interface JudgedProject {
  readonly after: PolicyProject
  /** If absent, there is no earlier state, so every violation is new. */
  readonly before?: PolicyProject
}

export interface Judgement extends PolicyResult {
  readonly source?: Source
}

export interface Judged {
  readonly results: readonly Judgement[]
  /** Names of the policies that cannot be decided because a value is unknown. */
  readonly undecided: readonly string[]
}

/**
 * @param overrides reasons by policy name.
 * @param isComplete whether every value that can be known is known. If so, an unknown value is a warning; otherwise it
 * is `undecided`.
 */
export const judgePolicies = (
  policies: readonly Policy[],
  projects: readonly JudgedProject[],
  { overrides = new Map(), isComplete = true }: { overrides?: ReadonlyMap<string, string>; isComplete?: boolean } = {},
): Judged => {
  const results: Judgement[] = []
  const undecided = new Set<string>()
  for (const { after, before } of projects) {
    for (const policy of policies) {
      const earlier = new Map((before === undefined ? [] : measure(policy, before)).map((one) => [one.key, one]))
      for (const one of measure(policy, after)) {
        if (!isComplete && one.excess === undefined) undecided.add(policy.name)
        const outcome = outcomeOf(policy, one, earlier.get(one.key), isComplete)
        if (outcome !== undefined) results.push(toResult(policy, after.id, one, outcome, overrides.get(policy.name)))
      }
    }
  }
  return { results, undecided: [...undecided].sort() }
}

/** Evaluates the policies that limit the whole plan. */
export const judgeLimits = (
  policies: readonly Policy[],
  plan: PolicyPlan,
  overrides: ReadonlyMap<string, string>,
): readonly PolicyResult[] =>
  policies.flatMap((policy) => {
    const one = measurePlan(policy, plan)
    if (one === undefined) return []
    const outcome = outcomeOf(policy, one, undefined, true)
    return outcome === undefined ? [] : [toResult(policy, undefined, one, outcome, overrides.get(policy.name))]
  })

/** `undefined` if there is nothing to report. A change is never blocked unless it increases the excess. */
const outcomeOf = (
  { level }: Policy,
  { excess, isNew }: Measure,
  before: Measure | undefined,
  isComplete: boolean,
): PolicyOutcome | undefined => {
  const strict = level === 'deny' ? 'denied' : 'warned'
  if (excess === undefined) return isNew ? strict : isComplete ? 'unknown' : undefined
  if (excess === 0) return undefined
  return before?.excess !== undefined && before.excess >= excess ? 'existing' : strict
}

const toResult = (
  { name, rule, level, reason }: Policy,
  project: string | undefined,
  { branch, compute, what, limit, source }: Measure,
  outcome: PolicyOutcome,
  override: string | undefined,
): Judgement => {
  const isOverridden = override !== undefined && (outcome === 'denied' || outcome === 'warned')
  const verb = {
    denied: 'denies',
    warned: 'warns about',
    existing: 'warns about',
    unknown: 'cannot judge',
    overridden: 'denies',
  }[outcome]
  return {
    policy: name,
    rule: rule.kind,
    level,
    outcome: isOverridden ? 'overridden' : outcome,
    ...defined({ project, branch, compute }),
    message: `\`${name}\` ${verb} ${what} (${limit})`,
    reason,
    ...defined({ override: isOverridden ? override : undefined, source }),
  }
}

/** Names of overrides that no violation required. */
export const unusedOverrides = (
  overrides: ReadonlyMap<string, string>,
  results: readonly PolicyResult[],
): readonly string[] =>
  [...overrides.keys()].filter(
    (name) => !results.some(({ policy, override }) => policy === name && override !== undefined),
  )

// `NAME=reason`: allows values that a policy denies.

const MAX_REASON = 200

/**
 * @returns reasons by policy name.
 * @throws {EspalierError} `E_OVERRIDE` if a name or a reason is missing, or a name occurs twice.
 */
export const parseOverrides = (words: readonly string[]): ReadonlyMap<string, string> => {
  const overrides = new Map<string, string>()
  for (const word of words) {
    const [, name = '', reason = ''] = /^([^=]+)=(.*)$/s.exec(word) ?? []
    if (reason.trim() === '' || reason.length > MAX_REASON) {
      throw new EspalierError(
        'E_OVERRIDE',
        `The override \`${word.slice(0, 100)}\` must be a policy's name, \`=\`, and a reason of 1 to ${MAX_REASON} characters.`,
        {
          hint: 'Write --override NAME=REASON.',
        },
      )
    }
    if (overrides.has(name)) {
      throw new EspalierError('E_OVERRIDE', `The policy \`${name}\` is overridden twice.`, {
        hint: 'Give one reason for each policy.',
      })
    }
    overrides.set(name, reason.trim())
  }
  return overrides
}

/** @throws {EspalierError} `E_OVERRIDE` for an unknown policy. */
export const checkOverrideNames = (overrides: ReadonlyMap<string, string>, policies: readonly string[]): void => {
  const unknown = [...overrides.keys()].find((name) => !policies.includes(name))
  if (unknown === undefined) return
  throw new EspalierError('E_OVERRIDE', `There is no policy \`${unknown}\` to override.`, {
    hint: didYouMean(unknown, policies) ?? `Policies here: ${[...new Set(policies)].join(', ') || 'none'}.`,
  })
}
