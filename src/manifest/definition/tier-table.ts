/** The definition of the file for `--tier-table`. */
import { flag, type JsonSchema, list, map, number, oneOf, text, type ValueOf } from '../../base/index.ts'
import { schemaAddress } from '../../model/index.ts'

const severity = oneOf(['error', 'warning'])
const source = text()
const limit = map({ max: number({ minimum: 0 }), severity, source }, { required: ['max', 'severity', 'source'] })
const seconds = number({ minimum: 0, multipleOf: 1 })

const TABLE = map(
  {
    version: text({ minLength: 1 }),
    tiers: list(
      map(
        {
          name: text({ minLength: 1 }),
          title: text({ minLength: 1 }),
          subscriptions: list(text()),
          fixedCu: limit,
          autoscalingCu: limit,
          scaleToZero: map(
            { min: seconds, max: seconds, never: flag(), severity, source },
            { required: ['min', 'max', 'never', 'severity', 'source'] },
          ),
          replicas: limit,
          cuHours: limit,
        },
        { required: ['name', 'title', 'subscriptions'] },
      ),
    ),
  },
  { required: ['version', 'tiers'] },
)

export type TierTableValue = ValueOf<typeof TABLE>

export const TIER_TABLE_SCHEMA: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: schemaAddress('tier-table'),
  ...TABLE,
}
