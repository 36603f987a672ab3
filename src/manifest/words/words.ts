/** The text of diagnostics, and what several messages share. */
import { defined } from '../../base/index.ts'
import type { DiagnosticCode } from '../../model/index.ts'

/** The text of a diagnostic. */
export interface Words {
  readonly code: DiagnosticCode
  readonly message: string
  readonly hint?: string
  /** The key to report the problem at, if it is another key of the same map. */
  readonly at?: string
}

export const words = (code: DiagnosticCode, message: string, hint?: string): Words => defined({ code, message, hint })

const quoted = (names: readonly (string | number)[]): readonly string[] => names.map((name) => `\`${name}\``)

/** `a`, `b` or `c`. */
export const list = (names: readonly (string | number)[]): string => {
  const all = quoted(names)
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`
}

/** `a`, `b`, `c`: for an enumeration after a colon. */
export const enumeration = (names: readonly string[]): string => quoted(names).join(', ')

/** Names of JSON types, for messages. */
export const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
}

/** Names the type of a value, for messages. */
export const nameOf = (value: unknown): string =>
  value === null || value === undefined
    ? 'empty'
    : (TYPE_NAMES[Array.isArray(value) ? 'array' : typeof value] ?? typeof value)
