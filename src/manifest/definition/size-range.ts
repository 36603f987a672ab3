/** The limits of `{ min, max }`: a keyword for the validator, plain JSON Schema for editors. */
import { _, type CodeKeywordDefinition } from 'ajv'
import { type JsonSchema, oneOf, when } from '../../base/index.ts'
import { SIZE_TABLE } from '../../model/index.ts'

/** Enumerated ranges would be a third of the validator's code. Errors are reported at `max`. */
export const SIZE_RANGE_KEYWORD: CodeKeywordDefinition = {
  keyword: 'sizeRange',
  type: 'object',
  schemaType: 'boolean',
  code: (cxt) => {
    const { autoscalingMaxCu, maxSpreadCu } = SIZE_TABLE
    const [min, max] = [_`${cxt.data}.min`, _`${cxt.data}.max`]
    const isRange = _`${max} > ${min} && ${max} <= ${autoscalingMaxCu} && ${max} - ${min} <= ${maxSpreadCu}`
    const areNumbers = _`typeof ${min} === "number" && typeof ${max} === "number"`
    cxt.gen.if(_`${areNumbers} && ${min} !== ${max} && !(${isRange})`, () =>
      cxt.error(false, {}, { instancePath: cxt.gen.const('key', _`"max"`) }),
    )
  },
}

/** Replaces the keyword with a condition for each minimum, because JSON Schema cannot subtract. */
export const withEnumeratedRanges = (schema: JsonSchema): JsonSchema =>
  JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === 'allOf' && JSON.stringify(value).includes('"sizeRange"') ? rangesOf() : value,
  ) as JsonSchema

const rangesOf = (): readonly JsonSchema[] => {
  const { steps, autoscalingMaxCu, maxSpreadCu } = SIZE_TABLE
  const sizes = steps.map(({ cu }) => cu)
  return sizes.map((min) => {
    const maxima = sizes.filter(
      (max) => max === min || (max > min && max <= autoscalingMaxCu && max - min <= maxSpreadCu),
    )
    return when({ properties: { min: { const: min } }, required: ['min'] }, { properties: { max: oneOf(maxima) } })
  })
}
