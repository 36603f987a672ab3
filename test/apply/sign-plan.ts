/** Edits plans like somebody who knows how to compute the digest. */
import { createHash } from 'node:crypto'

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sorted(one)]),
  )
}

/** The document as JSON, with a recomputed digest. */
export const signed = (document: object): string => {
  const { digest: _old, ...rest } = document as { digest?: unknown }
  const digest = createHash('sha256')
    .update(JSON.stringify(sorted(rest)))
    .digest('hex')
  return JSON.stringify({ ...rest, digest })
}

export type Path = readonly (string | number)[]

/** The paths of all scalar values. */
export const leavesOf = (value: unknown, path: Path = []): readonly Path[] => {
  if (typeof value !== 'object' || value === null) return [path]
  const entries: readonly [string | number, unknown][] = Array.isArray(value)
    ? value.map((one, index) => [index, one])
    : Object.entries(value)
  return entries.flatMap(([key, one]) => leavesOf(one, [...path, key]))
}

/** The document with another scalar value at one path. */
export const withLeaf = (value: unknown, [key, ...rest]: Path, edit: (leaf: unknown) => unknown): unknown => {
  if (key === undefined) return edit(value)
  if (Array.isArray(value)) return value.map((one, index) => (index === key ? withLeaf(one, rest, edit) : one))
  return Object.fromEntries(
    Object.entries(value as object).map(([name, one]) => [name, name === key ? withLeaf(one, rest, edit) : one]),
  )
}
