/** Writes a policy in a policy file's format. */
import { formatDuration, type Policy, type PolicyRule } from '../../model/index.ts'

export const policyValue = ({
  name,
  level,
  reason,
  projects,
  branches,
  except,
  ...rest
}: Policy): Readonly<Record<string, unknown>> => ({
  name,
  level,
  reason,
  ...(projects === undefined ? {} : { projects }),
  ...(branches === undefined ? {} : { branches }),
  ...(except.length === 0 ? {} : { except }),
  ...(rest.computes === 'any' ? {} : { computes: rest.computes }),
  rule: { [rest.rule.kind]: ruleValue(rest.rule) },
})

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
