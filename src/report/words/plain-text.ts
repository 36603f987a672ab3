/** Makes values from untrusted sources safe to print. */
import { plainText } from '../../base/index.ts'

/** Escapes every string in the value, but no keys. Copies only what changes, because the plan of a fleet is large. */
export const plainValue = <T>(value: T): T => {
  if (typeof value === 'string') return plainText(value) as T
  if (typeof value !== 'object' || value === null) return value
  let copy: Record<string, unknown> | undefined
  for (const key of Object.keys(value)) {
    const one: unknown = (value as Record<string, unknown>)[key]
    const plain = plainValue(one)
    if (plain === one) continue
    copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>
    copy[key] = plain
  }
  return (copy ?? value) as T
}
