/**
 * The rules of policies. A rule is one row: its schema, how its limit is read and written, what it measures, and its
 * words. The keys of the table are the names of the rules.
 */
import { number, oneOf, only, type Schema, text } from '../base/index.ts'
import { addCosts, type CostTotal, likelyOf } from './cost.ts'
import type { Source } from './diagnostic.ts'
import { DURATION_PATTERN, formatDuration, parseDuration } from './duration.ts'
import { isDelete, isOrMayBeRestart } from './plan-counts.ts'
import type { PolicyLevel } from './policy.ts'
import type { CostedChange, ExpectedCuHours, PolicyBranch, PolicyCompute, PolicyProject } from './policy-state.ts'
import { formatScaleToZero, sleepSeconds } from './scale-to-zero.ts'

export interface Measured {
  /** `undefined` if it is unknown. */
  readonly value: number | undefined
  /** Whether the value may be higher, because a part of it is unknown. */
  readonly isAtLeast?: boolean
  /** `4 CU for primary on preview/checkout`: the text after "denies". */
  readonly what: string
  readonly source?: Source | undefined
}

interface Limit {
  readonly schema: Schema<number | string>
  readonly read: (value: number | string) => number
  readonly write: (limit: number) => number | string
  readonly compare: 'at most' | 'at least' | 'equal'
  /** `at most 0.25 CU`. */
  readonly words: (limit: number) => string
}

/** What a rule measures: each compute, each branch, each project, or the whole plan. */
type Measuring =
  | { readonly of: 'compute'; readonly measure: (compute: PolicyCompute, branch: PolicyBranch) => Measured }
  | { readonly of: 'branch'; readonly measure: (branch: PolicyBranch, project: PolicyProject) => Measured }
  | { readonly of: 'project'; readonly measure: (project: PolicyProject) => Measured }
  /** Each branch if the policy has `branches`, and otherwise each project. */
  | {
      readonly of: 'usage'
      readonly measure: (where: string, cuHours: ExpectedCuHours | undefined) => Measured
    }
  | {
      readonly of: 'plan'
      /** What changes add. `undefined` if it is unknown. */
      readonly use: (changes: readonly CostedChange[]) => number | undefined
      /** @param total what the plan adds. `undefined` if it is unknown. */
      readonly what: (total: number | undefined, changes: readonly CostedChange[]) => string
    }

export type PolicyRuleRow = Limit & Measuring

const amount = (
  compare: 'at most' | 'at least',
  unit: string,
  description: string,
  { example, ...more }: { readonly example: number } & Readonly<Record<string, number>>,
): Limit => ({
  schema: number({ ...more, description, examples: [example] }),
  read: Number,
  write: (limit) => limit,
  compare,
  words: (limit) => `${compare} ${limit}${unit}`,
})

const POSITIVE = { exclusiveMinimum: 0, maximum: 100_000 }
const COUNT = { minimum: 0, multipleOf: 1 }
const NOT_NEGATIVE = { minimum: 0, maximum: 100_000 }

const WORDS: readonly string[] = ['forbidden', 'required']

const toggle = (schema: Schema<string>): Limit => ({
  schema,
  read: (word) => WORDS.indexOf(String(word)),
  write: (limit) => WORDS[limit] ?? limit,
  compare: 'equal',
  words: (limit) => String(WORDS[limit]),
})

const on = ({ title }: PolicyCompute, { name }: PolicyBranch): string => `${title} on ${name}`

const sizeOf =
  (bound: 'min' | 'max') =>
  (compute: PolicyCompute, branch: PolicyBranch): Measured => {
    const cu = compute.settings.size?.[bound]
    const size = cu === undefined ? 'an unknown size' : `${cu} CU`
    return { value: cu, what: `${size} for ${on(compute, branch)}`, source: compute.sources?.size }
  }

const sleepOf =
  (measured: (seconds: number) => number) =>
  (compute: PolicyCompute, branch: PolicyBranch): Measured => {
    const { scaleToZero } = compute.settings
    const seconds = sleepSeconds(compute.settings)
    const setting =
      scaleToZero === undefined ? 'an unknown scale to zero' : `\`scaleToZero: ${formatScaleToZero(scaleToZero)}\``
    return {
      value: seconds === undefined ? undefined : measured(seconds),
      what: `${setting} for ${on(compute, branch)}`,
      source: compute.sources?.scaleToZero,
    }
  }

const flagged = (flag: boolean | undefined): number | undefined => (flag === undefined ? undefined : Number(flag))

const titleOf = ({ id, name }: PolicyProject): string => `project ${name ?? id}`

const computes = (count: number): string => `${count} compute${count === 1 ? '' : 's'}`

const decimals = (value: number): number => Math.round(value * 100) / 100

const increaseOf = (changes: readonly CostedChange[]): CostTotal =>
  addCosts(changes.flatMap(({ cost }) => cost?.delta ?? []))

/** The rules in the order in which the schema lists them. */
export const POLICY_RULES = {
  maxSize: {
    ...amount('at most', ' CU', 'The maximum size of a compute, in CU. For a range, the upper limit counts.', {
      ...POSITIVE,
      example: 0.25,
    }),
    of: 'compute',
    measure: sizeOf('max'),
  },
  minSize: {
    ...amount('at least', ' CU', 'The minimum size of a compute, in CU. For a range, the lower limit counts.', {
      ...POSITIVE,
      example: 1,
    }),
    of: 'compute',
    measure: sizeOf('min'),
  },
  maxProjectCu: {
    ...amount(
      'at most',
      ' CU',
      "The maximum total size of a project's computes, in CU. For ranges, the upper limits count.",
      { ...POSITIVE, example: 24 },
    ),
    of: 'project',
    measure: (project) => {
      const sizes = project.branches.flatMap((branch) => branch.computes.map(({ settings }) => settings.size?.max))
      const total = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0)
      return {
        value: total,
        isAtLeast: !project.isComplete || sizes.includes(undefined),
        what: `${total} CU in ${titleOf(project)}`,
      }
    },
  },
  maxReplicas: {
    ...amount('at most', '', 'The maximum number of read replicas on a branch.', { ...COUNT, example: 2 }),
    of: 'branch',
    measure: ({ name, computes }, { isComplete }) => {
      const count = computes.filter(({ type }) => type === 'read_only').length
      // Only the service knows whether undeclared replicas exist.
      return { value: count, isAtLeast: !isComplete, what: `${count} replicas on ${name}` }
    },
  },
  scaleToZero: {
    ...toggle(
      oneOf(['required', 'forbidden'], {
        description: '`required`: computes must scale to zero. `forbidden`: they must not.',
        examples: ['forbidden'],
      }),
    ),
    words: (limit) => (limit === 0 ? 'must be never' : 'required'),
    of: 'compute',
    measure: sleepOf((seconds) => Number(seconds !== Number.POSITIVE_INFINITY)),
  },
  maxScaleToZero: {
    schema: text({
      pattern: DURATION_PATTERN,
      description: 'Computes must scale to zero after at most this much idle time.',
      examples: ['10m'],
      $comment: 'E_POLICY_DURATION',
    }),
    read: (duration) => parseDuration(String(duration)) ?? 0,
    write: formatDuration,
    compare: 'at most',
    words: (limit) => `at most ${formatDuration(limit)}`,
    of: 'compute',
    measure: sleepOf((seconds) => seconds),
  },
  restartWindow: {
    ...toggle(only('required', { description: 'Computes must have a restart window.', examples: ['required'] })),
    of: 'compute',
    measure: (compute, branch) => ({
      value: flagged(compute.hasWindow),
      what: `${on(compute, branch)} without a restart window`,
    }),
  },
  protect: {
    ...toggle(only('required', { description: 'Branches must have `protect: true`.', examples: ['required'] })),
    of: 'branch',
    measure: ({ name, protect }) => ({ value: flagged(protect), what: `${name} without \`protect: true\`` }),
  },
  prune: {
    ...toggle(only('forbidden', { description: '`prune: true` is not allowed.', examples: ['forbidden'] })),
    of: 'project',
    measure: (project) => ({ value: flagged(project.prune), what: `\`prune: true\` for ${titleOf(project)}` }),
  },
  maxCuHours: {
    ...amount(
      'at most',
      ' a month',
      'The maximum expected CU-hours per month: per branch if the policy has `branches`, otherwise per project.',
      { ...POSITIVE, example: 600 },
    ),
    of: 'usage',
    // The expected value changes every hour. The text omits it, so that a saved plan stays the same.
    measure: (where, cuHours) => ({
      value: cuHours?.known ?? 0,
      isAtLeast: cuHours?.isComplete !== true,
      what: `the CU-hours expected for ${where}`,
    }),
  },
  maxRestarts: {
    ...amount(
      'at most',
      '',
      'The maximum number of computes that a plan restarts or may restart. Idle computes do not count.',
      { ...COUNT, example: 5 },
    ),
    of: 'plan',
    use: (changes) => changes.filter(({ change }) => isOrMayBeRestart(change)).length,
    what: (total = 0) => `restarting ${computes(total)}`,
  },
  maxDeletes: {
    ...amount('at most', '', 'The maximum number of computes that a plan deletes or replaces.', {
      ...COUNT,
      example: 0,
    }),
    of: 'plan',
    use: (changes) => changes.filter(({ change }) => isDelete(change)).length,
    what: (total = 0) => `deleting ${computes(total)}`,
  },
  maxCuIncrease: {
    ...amount('at most', ' CU', 'The maximum number of CU that a plan adds to the sum of all upper size limits.', {
      ...NOT_NEGATIVE,
      example: 8,
    }),
    of: 'plan',
    // A compute that is created without a size gets the default of its project, which is unknown.
    use: (changes) =>
      changes.some(({ change: { kind, after } }) => after === undefined && (kind === 'create' || kind === 'replace'))
        ? undefined
        : changes.reduce(
            (sum, { change: { before, after } }) => sum + (after?.size.max ?? 0) - (before?.size.max ?? 0),
            0,
          ),
    what: (total) => (total === undefined ? 'creating a compute without a size' : `adding ${decimals(total)} CU`),
  },
  maxCuHoursIncrease: {
    ...amount(
      'at most',
      ' a month',
      'The maximum expected increase in CU-hours per month. Without usage history, the highest possible increase counts.',
      { ...NOT_NEGATIVE, example: 1000 },
    ),
    of: 'plan',
    use: (changes) => likelyOf(increaseOf(changes)) ?? undefined,
    what: (total, changes) => {
      if (total === undefined) return 'adding an unknown number of CU-hours'
      return `adding ${increaseOf(changes).unknown === 0 ? '' : 'up to '}${decimals(total)} CU-hours`
    },
  },
} as const satisfies Readonly<Record<string, PolicyRuleRow>>

export type PolicyRuleName = keyof typeof POLICY_RULES

export const POLICY_RULE_NAMES = Object.keys(POLICY_RULES) as readonly PolicyRuleName[]

export const policyRuleRow = (name: PolicyRuleName): PolicyRuleRow => POLICY_RULES[name]

export interface PolicyRule {
  readonly kind: PolicyRuleName
  /** In the unit of the rule. For `required` 1, and for `forbidden` 0. */
  readonly limit: number
}

/** A rule that a team sets for its projects. */
export interface Policy {
  readonly name: string
  readonly level: PolicyLevel
  /** Shown with every violation. */
  readonly reason: string
  /** Globs for project ids and names. Absent: all projects. */
  readonly projects?: readonly string[]
  /** Globs for branch names. Absent: all branches. */
  readonly branches?: readonly string[]
  readonly except: readonly string[]
  /** Ids of the projects whose manifests contain the policy. Absent if it comes from a policy file. */
  readonly within?: readonly string[]
  readonly computes: 'any' | 'primary' | 'replica'
  readonly rule: PolicyRule
  /** The limit applies to each period of 24 hours, not to each plan. Only the agent can check this. */
  readonly per?: 'day'
  readonly source: Source
}

/** `maxSize 0.25`. */
export const policyRuleText = ({ kind, limit }: PolicyRule): string => `${kind} ${policyRuleRow(kind).write(limit)}`

/** What changes add, by the rule that limits it. Unknown amounts count as nothing. */
export type PlanUse = Readonly<Record<string, number>>

export const planUseOf = (change: CostedChange): PlanUse =>
  Object.fromEntries(
    POLICY_RULE_NAMES.flatMap((name) => {
      const row = policyRuleRow(name)
      return row.of === 'plan' ? [[name, row.use([change]) ?? 0]] : []
    }),
  )
