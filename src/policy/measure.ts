/** The values that a policy checks in a project, and how far each exceeds the limit. */
import {
  formatDuration,
  formatScaleToZero,
  globFilter,
  globMatcher,
  type Policy,
  type PolicyRule,
  SCALE_TO_ZERO_NEVER,
  SIZE_TABLE,
  type Source,
  scaleToZeroSeconds,
} from '../model/index.ts'
import type { ExpectedCuHours, PolicyBranch, PolicyCompute, PolicyProject } from './state.ts'

/** One value that a policy checks. */
export interface Measure {
  /** Identifies the value before and after a plan. */
  readonly key: string
  readonly branch?: string
  readonly compute?: string
  /** By how much the value exceeds the limit. 0 if it is allowed, and `undefined` if that is unknown. */
  readonly excess: number | undefined
  /** `4 CU for primary on preview/checkout`: the text after "denies". */
  readonly what: string
  /** `at most 0.25 CU`. */
  readonly limit: string
  /** Whether the plan creates the compute. If so, an unknown value counts as a violation. */
  readonly isNew: boolean
  readonly source: Source | undefined
}

/** A project with an unknown name matches every name, so that an unreadable project cannot evade a policy. */
const concernsProject = ({ projects, within }: Policy, { id, name }: Pick<PolicyProject, 'id' | 'name'>): boolean =>
  (within === undefined || within.includes(id)) &&
  (projects === undefined ||
    projects.map(globMatcher).some((matches) => matches(id) || name === undefined || matches(name)))

export const measure = (policy: Policy, project: PolicyProject): readonly Measure[] => {
  if (!concernsProject(policy, project)) return []
  const { rule } = policy
  const isIncluded = globFilter(policy.branches, policy.except)
  const branches = project.branches.filter(({ name }) => isIncluded(name))
  switch (rule.kind) {
    case 'maxSize':
    case 'minSize':
    case 'scaleToZero':
    case 'maxScaleToZero':
    case 'restartWindow':
      return branches.flatMap((branch) =>
        branch.computes
          .filter(
            ({ type }) => policy.computes === 'any' || (policy.computes === 'primary') === (type === 'read_write'),
          )
          .map((compute) => ofCompute(rule, branch, compute)),
      )
    case 'maxReplicas':
      return branches.map((branch) => ofReplicas(rule, branch, project))
    case 'protect':
      return branches.map((branch) => ({
        ...atBranch(branch),
        excess: branch.protect === undefined ? undefined : Number(!branch.protect),
        what: `${branch.name} without \`protect: true\``,
        limit: 'required',
      }))
    case 'prune':
      return [
        {
          ...atProject(project),
          excess: project.prune === undefined ? undefined : Number(project.prune),
          what: `\`prune: true\` for project ${project.name ?? project.id}`,
          limit: 'forbidden',
        },
      ]
    case 'maxProjectCu':
      return [ofProjectCu(rule, project)]
    case 'maxCuHours':
      return policy.branches === undefined
        ? [{ ...atProject(project), ...ofCuHours(rule, project.cuHours, `project ${project.name ?? project.id}`) }]
        : branches.map((branch) => ({ ...atBranch(branch), ...ofCuHours(rule, branch.cuHours, branch.name) }))
  }
}

type ComputeRule = Extract<
  PolicyRule,
  { kind: 'maxSize' | 'minSize' | 'scaleToZero' | 'maxScaleToZero' | 'restartWindow' }
>

/** The value that each rule checks. */
const VALUE_OF = {
  maxSize: 'size',
  minSize: 'size',
  scaleToZero: 'scaleToZero',
  maxScaleToZero: 'scaleToZero',
} as const

const ofCompute = (rule: ComputeRule, branch: PolicyBranch, compute: PolicyCompute): Measure => {
  const { size, scaleToZero } = compute.settings
  const source = (rule.kind === 'restartWindow' ? undefined : compute.sources?.[VALUE_OF[rule.kind]]) ?? compute.source
  const at = {
    key: compute.key,
    branch: branch.name,
    compute: compute.title,
    isNew: compute.isNew ?? false,
    source,
  }
  const where = `for ${compute.title} on ${branch.name}`
  switch (rule.kind) {
    case 'maxSize':
    case 'minSize': {
      const isMost = rule.kind === 'maxSize'
      const cu = isMost ? size?.max : size?.min
      return {
        ...at,
        excess: cu === undefined ? undefined : Math.max(0, isMost ? cu - rule.cu : rule.cu - cu),
        what: `${cu === undefined ? 'an unknown size' : `${cu} CU`} ${where}`,
        limit: `at ${isMost ? 'most' : 'least'} ${rule.cu} CU`,
      }
    }
    case 'scaleToZero':
    case 'maxScaleToZero': {
      const isForbidden = rule.kind === 'scaleToZero' && rule.is === 'forbidden'
      const most = rule.kind === 'maxScaleToZero' ? rule.seconds : Number.POSITIVE_INFINITY
      return {
        ...at,
        excess: sleepExcess(compute, isForbidden, most),
        what: `${scaleToZero === undefined ? 'an unknown scale to zero' : `\`scaleToZero: ${formatScaleToZero(scaleToZero)}\``} ${where}`,
        limit: isForbidden
          ? 'must be never'
          : rule.kind === 'maxScaleToZero'
            ? `at most ${formatDuration(most)}`
            : 'required',
      }
    }
    case 'restartWindow':
      return {
        ...at,
        excess: compute.hasWindow === undefined ? undefined : Number(!compute.hasWindow),
        what: `${compute.title} on ${branch.name} without a restart window`,
        limit: 'required',
      }
  }
}

/** Large computes never sleep, whatever their setting. */
const sleepExcess = ({ settings }: PolicyCompute, isForbidden: boolean, most: number): number | undefined => {
  const { size, scaleToZero } = settings
  const isLarge = size !== undefined && size.max > SIZE_TABLE.scaleToZeroMaxCu
  if (scaleToZero === undefined && !isLarge) return undefined
  const seconds =
    isLarge || scaleToZero === undefined || scaleToZero === SCALE_TO_ZERO_NEVER
      ? Number.POSITIVE_INFINITY
      : scaleToZeroSeconds(scaleToZero)
  if (isForbidden) return Number(seconds !== Number.POSITIVE_INFINITY)
  if (seconds === Number.POSITIVE_INFINITY) return seconds
  return Math.max(0, seconds - most)
}

const ofReplicas = (
  { count: most }: Extract<PolicyRule, { kind: 'maxReplicas' }>,
  branch: PolicyBranch,
  { isComplete }: PolicyProject,
): Measure => {
  const count = branch.computes.filter(({ type }) => type === 'read_only').length
  return {
    ...atBranch(branch),
    // Only the service knows whether undeclared replicas exist.
    excess: excessOfSum(count, most, isComplete),
    what: `${count} replicas on ${branch.name}`,
    limit: `at most ${most}`,
  }
}

const ofProjectCu = ({ cu }: { readonly cu: number }, project: PolicyProject): Measure => {
  const sizes = project.branches.flatMap(({ computes }) => computes.map(({ settings }) => settings.size?.max))
  const known = sizes.filter((size) => size !== undefined)
  const total = known.reduce((sum, size) => sum + size, 0)
  const isKnown = project.isComplete && known.length === sizes.length
  return {
    ...atProject(project),
    excess: excessOfSum(total, cu, isKnown),
    what: `${total} CU in project ${project.name ?? project.id}`,
    limit: `at most ${cu} CU`,
  }
}

/** The known part alone may exceed the limit. */
const excessOfSum = (known: number, most: number, isComplete: boolean): number | undefined =>
  known > most ? known - most : isComplete ? 0 : undefined

/** The expected value changes every hour. The message omits it, so that a saved plan stays the same. */
const ofCuHours = (
  { cuHours: most }: { readonly cuHours: number },
  expected: ExpectedCuHours | undefined,
  where: string,
): Pick<Measure, 'excess' | 'what' | 'limit'> => ({
  excess: excessOfSum(expected?.known ?? 0, most, expected?.isComplete ?? false),
  what: `the CU-hours expected for ${where}`,
  limit: `at most ${most} a month`,
})

const atProject = ({ id }: PolicyProject) => ({ key: id, isNew: false, source: undefined })

const atBranch = ({ name, source }: PolicyBranch) => ({ key: name, branch: name, isNew: false, source })
