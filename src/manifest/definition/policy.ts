/** The definition of a policy file. Its schema, types and validator are derived from it. */
import { type JsonSchema, list, map, number, oneOf, only, text, type ValueOf } from '../../base/index.ts'
import { schemaAddress } from '../../model/index.ts'

export const DURATION_PATTERN = '^(?=.)(\\d{1,7}d)?(\\d{1,7}h)?(\\d{1,7}m)?(\\d{1,7}s)?$'

const globs = (description: string, examples: readonly unknown[]) =>
  list(text({ minLength: 1, $comment: 'E_GLOB' }), { minItems: 1, description, examples })
const cu = (description: string, example: number) =>
  number({ exclusiveMinimum: 0, maximum: 100_000, description, examples: [example] })

const RULE = map(
  {
    maxSize: cu('The maximum size of a compute, in CU. For a range, its upper limit.', 0.25),
    minSize: cu('The minimum size of a compute, in CU. For a range, its lower limit.', 1),
    maxProjectCu: cu(
      'The maximum total size of the computes of a project, in CU. For ranges, the upper limits count.',
      24,
    ),
    maxReplicas: number({
      minimum: 0,
      multipleOf: 1,
      description: 'The maximum number of read replicas of a branch.',
      examples: [2],
    }),
    scaleToZero: oneOf(['required', 'forbidden'], {
      description: 'Whether computes must or must not scale to zero.',
      examples: ['forbidden'],
    }),
    maxScaleToZero: text({
      pattern: DURATION_PATTERN,
      description: 'Computes must scale to zero within this time.',
      examples: ['10m'],
      $comment: 'E_POLICY_DURATION',
    }),
    restartWindow: only('required', { description: 'Computes must have a restart window.', examples: ['required'] }),
    protect: only('required', { description: 'Branches must have `protect: true`.', examples: ['required'] }),
    prune: only('forbidden', { description: '`prune: true` is not allowed.', examples: ['forbidden'] }),
    maxCuHours: cu(
      'The maximum expected CU-hours per month (docs/cost.md): per branch with `branches`, otherwise per project.',
      600,
    ),
  },
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
      description: '`deny` blocks the project, `warn` only reports.',
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
    rule: { ...RULE, examples: [{ maxSize: 0.25 }] },
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
  description: 'Limits on what manifests can declare for projects and branches.',
  ...FILE,
  $defs: { policy: POLICY },
}
