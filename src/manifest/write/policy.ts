/** Writes a policy in a policy file's format. */
import { defined } from '../../base/index.ts'
import { formatDuration, type Policy, type PolicyRule } from '../../model/index.ts'

export const policyValue = (policy: Policy): Readonly<Record<string, unknown>> => {
  const { name, level, reason, projects, branches, except, computes, rule } = policy
  return {
    name,
    level,
    reason,
    ...defined({ projects, branches }),
    ...(except.length > 0 && { except }),
    ...(computes !== 'any' && { computes }),
    rule: { [rule.kind]: ruleValue(rule) },
  }
}

const ruleValue = (rule: PolicyRule): string | number => {
  switch (rule.kind) {
    case 'maxSize':
    case 'minSize':
    case 'maxProjectCu':
      return rule.cu
    case 'maxReplicas':
      return rule.count
    case 'maxScaleToZero':
      return formatDuration(rule.seconds)
    case 'maxCuHours':
      return rule.cuHours
    default:
      return rule.is
  }
}
