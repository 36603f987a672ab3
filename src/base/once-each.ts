/** Removes items with a duplicate id. The first item with each id is kept. */
export const onceEach = <T extends { readonly id: string }>(items: Iterable<T>): T[] => {
  const found = new Map<string, T>()
  for (const item of items) if (!found.has(item.id)) found.set(item.id, item)
  return [...found.values()]
}
