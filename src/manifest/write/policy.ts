/** Writes a policy in a policy file's format. */
import { defined } from '../../base/index.ts'
import { type Policy, policyRuleRow } from '../../model/index.ts'

export const policyValue = (policy: Policy): Readonly<Record<string, unknown>> => {
  const { name, level, reason, projects, branches, except, computes, rule, per } = policy
  return {
    name,
    level,
    reason,
    ...defined({ projects, branches }),
    ...(except.length > 0 && { except }),
    ...(computes !== 'any' && { computes }),
    rule: { [rule.kind]: policyRuleRow(rule.kind).write(rule.limit) },
    ...defined({ per }),
  }
}
