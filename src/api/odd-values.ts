/** Describes an undocumented response: the object, the field, its value and the expected value. */
import { plainText } from '../model/index.ts'

const LONGEST = 60

/** From zod. The message names the expected value (wire.ts). */
export interface Issue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

const NOUNS: Readonly<Record<string, string>> = {
  endpoint: 'compute',
  endpoints: 'compute',
  branch: 'branch',
  branches: 'branch',
  operation: 'operation',
  operations: 'operation',
  project: 'project',
  projects: 'project',
}

/** `compute ep-a: `autoscaling_limit_min_cu` is "0.25"; expected a number`. */
export const oddValue = (body: unknown, { path, message }: Issue): string => {
  const [first, second] = path
  const thing = NOUNS[String(first)]
  const length = thing === undefined || path.length < 2 ? 0 : typeof second === 'number' ? 2 : 1
  const fields = path.slice(length)
  const value = valueAt(body, path)
  const what = value === undefined ? 'is missing' : `is ${abbreviate(value)}`
  const field = fields.length === 0 ? '' : `\`${fields.map(String).join('.')}\` `
  const who = length === 0 ? 'the body' : `${thing} ${nameOf(valueAt(body, path.slice(0, length)), second)}`
  return plainText(`${who}: ${field}${what}; expected ${message}`)
}

const valueAt = (body: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Readonly<Record<PropertyKey, unknown>>)[key]
        : undefined,
    body,
  )

/** Uses the id if there is one, otherwise the position in the list. */
const nameOf = (item: unknown, index: PropertyKey | undefined): string => {
  const id = valueAt(item, ['id'])
  if (typeof id === 'string' && id !== '') return id.slice(0, LONGEST)
  return typeof index === 'number' ? `${index + 1} in the list` : 'without an id'
}

const abbreviate = (value: unknown): string => {
  const text = JSON.stringify(value)
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}
