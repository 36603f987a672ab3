/** The definition of a policy file. Its schema, types and validator are derived from it. */
import {
  type JsonSchema,
  list,
  map,
  oneOf,
  only,
  type Schema,
  schemaAddress,
  text,
  type ValueOf,
} from '../../base/index.ts'
import { POLICY_RULE_NAMES, type PolicyRuleName, policyRuleRow } from '../../model/index.ts'

const globs = (description: string, examples: readonly unknown[]) =>
  list(text({ minLength: 1, $comment: 'E_GLOB' }), { minItems: 1, description, examples })

type RuleValue = Readonly<Partial<Record<PolicyRuleName, number | string>>>

const RULE: Schema<RuleValue> = map(
  Object.fromEntries(POLICY_RULE_NAMES.map((name) => [name, policyRuleRow(name).schema])),
  { minProperties: 1, maxProperties: 1, $comment: 'E_POLICY_RULE', description: 'Exactly one rule.' },
)

export const POLICY = map(
  {
    name: text({
      pattern: '^[a-z0-9][a-z0-9-]{0,62}$',
      description: 'A unique name of 1 to 63 lowercase letters, digits and hyphens.',
      examples: ['preview-size'],
    }),
    level: oneOf(['warn', 'deny'], {
      description:
        '`deny` blocks the project, or the whole plan if the rule limits what a plan can do. `warn` only reports.',
      examples: ['deny'],
    }),
    reason: text({
      minLength: 1,
      maxLength: 200,
      description: 'The reason for the policy, shown with every violation.',
      examples: ['Previews are paid for by the platform team.'],
    }),
    projects: globs('Projects by id or name. Default: all.', [['shop*']]),
    branches: globs('Branches by name. Default: all.', [['preview/**']]),
    except: globs('Branches that the policy does not apply to.', [['preview/load-*']]),
    computes: oneOf(['any', 'primary', 'replica'], {
      default: 'any',
      description: 'The computes that the policy applies to.',
      examples: ['primary'],
    }),
    rule: { ...RULE, examples: [{ maxSize: 0.25 }] } as typeof RULE,
    per: only('day', {
      description:
        'Apply a limit on plans, such as `maxRestarts`, to everything that the agent does to a project in 24 hours. Only the agent accepts this.',
      examples: ['day'],
    }),
  },
  { required: ['name', 'level', 'reason', 'rule'] },
)

const FILE = map(
  {
    version: only(1, { description: 'The version of this format.', examples: [1], $comment: 'E_VERSION' }),
    policies: list({ $ref: '#/$defs/policy' } as typeof POLICY, {
      description: 'All matching policies apply. None overrides another.',
      examples: [
        [
          {
            name: 'preview-size',
            level: 'deny',
            reason: 'They are paid for by the platform team.',
            rule: { maxSize: 0.25 },
          },
        ],
      ],
    }),
  },
  { required: ['version', 'policies'] },
)

export type PolicyFileValue = ValueOf<typeof FILE>
export type PolicyValue = ValueOf<typeof POLICY>

export const POLICY_SCHEMA: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: schemaAddress('policy'),
  title: 'Espalier policies',
  description: 'Limits on what manifests can declare for projects and branches, and on what a plan can change.',
  ...FILE,
  $defs: { policy: POLICY },
}
