/** A binary heap: the least element first. */
export class Heap<T> {
  readonly #items: T[] = []
  readonly #compare: (a: T, b: T) => number

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare
  }

  push(item: T): void {
    const items = this.#items
    let index = items.push(item) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      const above = items[parent] as T
      if (this.#compare(above, item) <= 0) break
      items[index] = above
      index = parent
    }
    items[index] = item
  }

  pop(): T | undefined {
    const items = this.#items
    const top = items[0]
    const last = items.pop()
    if (last === undefined || items.length === 0) return top
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= items.length) break
      if (child + 1 < items.length && this.#compare(items[child + 1] as T, items[child] as T) < 0) child += 1
      if (this.#compare(items[child] as T, last) >= 0) break
      items[index] = items[child] as T
      index = child
    }
    items[index] = last
    return top
  }
}
