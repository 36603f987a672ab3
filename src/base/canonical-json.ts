/** JSON with sorted keys: equal values have equal text, whatever the order in which their keys were written. */
export const canonicalJson = (value: unknown): string => JSON.stringify(value, sortKeys)

const sortKeys = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value
