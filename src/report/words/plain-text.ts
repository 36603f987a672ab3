/** Whole values of unknown origin, safe to show. */
import { plainText } from '../../base/index.ts'

export { plainText }

/** The value with every text in it, keys aside, made plain: renderers then need not think of it. */
export const plainValue = <T>(value: T): T => {
  if (typeof value === 'string') return plainText(value) as T
  if (Array.isArray(value)) return value.map(plainValue) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plainValue(one)])) as T
}
