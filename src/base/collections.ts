/** `T` in which every property that may be `undefined` is optional. */
export type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** The properties that are not `undefined`, since an optional property must be absent (`exactOptionalPropertyTypes`). */
export const defined = <T extends object>(properties: T): Defined<T> => {
  const kept: Record<string, unknown> = {}
  // A loop for speed: this runs several times for every compute.
  for (const [key, value] of Object.entries(properties)) if (value !== undefined) kept[key] = value
  return kept as Defined<T>
}

/** Compares by code unit, independently of the locale. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Groups items by key. Keeps the order of keys and items. */
export const groupBy = <T, K = string>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> => {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

/** Removes items with a duplicate id. The first item with each id is kept. */
export const onceEach = <T extends { readonly id: string }>(items: Iterable<T>): T[] => {
  const found = new Map<string, T>()
  for (const item of items) if (!found.has(item.id)) found.set(item.id, item)
  return [...found.values()]
}
