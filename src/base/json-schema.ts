/** Builders for JSON Schema 2020-12 from which the TypeScript type is inferred, and where schemas are published. */

/** The GitHub repository, as in package.json and the workflows. */
export const REPOSITORY = 'espalier-dev/espalier'

/**
 * URL and `$id` of a schema. Always the newest version, because manifests outlive the version that they were written
 * for.
 */
export const schemaAddress = (name: string): string =>
  `https://raw.githubusercontent.com/${REPOSITORY}/main/schemas/${name}.schema.json`

export interface JsonSchema {
  readonly [keyword: string]: unknown
}

declare const VALUE: unique symbol

/** A schema of values of type `T`. */
export type Schema<T> = JsonSchema & { readonly [VALUE]?: T }

export type ValueOf<S> = S extends { readonly [VALUE]?: infer T } ? Exclude<T, undefined> : never

type Keywords = JsonSchema

type MapOf<P, R extends keyof P> = {
  readonly [K in keyof P as K extends R ? K : never]: ValueOf<P[K]>
} & { readonly [K in keyof P as K extends R ? never : K]?: ValueOf<P[K]> }

export const text = (more: Keywords = {}): Schema<string> => ({ type: 'string', ...more })

export const flag = (more: Keywords = {}): Schema<boolean> => ({ type: 'boolean', ...more })

export const number = (more: Keywords = {}): Schema<number> => ({ type: 'number', ...more })

/** An enum. If there are no values, the schema rejects every value, because an `enum` must not be empty. */
export const oneOf = <const T extends string | number>(values: readonly T[], more: Keywords = {}): Schema<T> =>
  values.length === 0 ? { not: {}, ...more } : { enum: values, ...more }

export const only = <const T extends string | number>(value: T, more: Keywords = {}): Schema<T> => ({
  const: value,
  ...more,
})

export const list = <T>(items: Schema<T>, more: Keywords = {}): Schema<readonly T[]> => ({
  type: 'array',
  items,
  ...more,
})

/** A map whose keys are names. */
export const named = <T>(values: Schema<T>, more: Keywords = {}): Schema<Readonly<Record<string, T>>> => ({
  type: 'object',
  additionalProperties: values,
  ...more,
})

/** A map with these keys only, in canonical order. */
export const map = <P extends Readonly<Record<string, JsonSchema>>, R extends keyof P & string = never>(
  properties: P,
  more: Keywords & { readonly required?: readonly R[] } = {},
): Schema<MapOf<P, R>> => ({ type: 'object', properties, additionalProperties: false, ...more })

/**
 * A map or a plain value. Uses `if` rather than `anyOf`, so that a validator only reports problems of the form that was
 * used.
 */
export const mapOr = <M, V>(form: Schema<M>, plain: Schema<V>, more: Keywords = {}): Schema<M | V> => ({
  ...when({ type: 'object' }, form, plain),
  ...more,
})

/** One value, or a list of such values. The two forms are distinguished as in {@link mapOr}. */
export const oneOrList = <T>(one: Schema<T>, more: Keywords = {}): Schema<T | readonly T[]> => ({
  ...when({ type: 'array' }, list(one, { minItems: 1 }), one),
  ...more,
})

/** `if`, `then`, `else` as keywords. */
export const when = (condition: JsonSchema, met: JsonSchema, unmet?: JsonSchema): JsonSchema => ({
  if: condition,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: met,
  ...(unmet === undefined ? {} : { else: unmet }),
})
