import { isRecord, type JsonSchema } from '../../base/index.ts'

/**
 * Adds keywords that yaml-language-server understands and validators ignore. Without them, an editor offers
 * `[object Object]` for a map, only the examples for a value that can also be a map, and a pattern as an error message.
 */
export const forEditors = (schema: JsonSchema): JsonSchema =>
  JSON.parse(JSON.stringify(schema), (_key, value: unknown) =>
    isRecord(value) ? { ...value, ...valuesOffered(value), ...messages(value) } : value,
  ) as JsonSchema

const valuesOffered = ({ examples, else: plain }: JsonSchema): JsonSchema => {
  if (!Array.isArray(examples)) return {}
  const given = examples as readonly unknown[]
  const isCollection = (one: unknown): boolean => typeof one === 'object'
  const collections = given.filter(isCollection)
  const values = isRecord(plain) && Array.isArray(plain.enum) ? plain.enum : given.filter((one) => !isCollection(one))
  return {
    // A key with the value `undefined` is not part of the JSON.
    examples: values.length === 0 ? undefined : values,
    ...(collections.length > 0 && { defaultSnippets: collections.map((body) => ({ label: labelOf(body), body })) }),
  }
}

const messages = ({ pattern, description, else: plain }: JsonSchema): JsonSchema => ({
  ...(pattern !== undefined && description !== undefined && { patternErrorMessage: description }),
  ...(isRecord(plain) &&
    plain.const === 'absent' && {
      else: { ...plain, errorMessage: 'Write attributes such as `size: 1` on the lines below, or `absent`.' },
    }),
})

/** `{ min: 1, max: 8 }`. */
const labelOf = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(labelOf).join(', ')}]`
  if (!isRecord(value)) return String(value)
  return `{ ${Object.entries(value)
    .map(([key, one]) => `${key}: ${labelOf(one)}`)
    .join(', ')} }`
}
