/** The key in what a server, or a proxy in between, says back: in any form that can be read back. */

/** A key shorter than this could be a word of an honest answer. */
const SHORTEST_SECRET = 16

export interface KeyFinder {
  /** Without the key, for words that are shown. A refusal holds nothing else that would be missed. */
  readonly hide: (text: string) => string
  /**
   * Where a value holds the key, such as `branches.0.name`; `undefined` if it does not. `text` is the JSON that the
   * value was read from.
   */
  readonly find: (value: unknown, text: string) => string | undefined
}

export const keyFinder = (key: string): KeyFinder => {
  const pattern = new RegExp(formsOf(key).join('|'), 'i')
  const all = new RegExp(pattern.source, 'gi')
  return {
    hide: (text) => text.replace(all, '[the key]'),
    find: (value, text) => {
      if (key.length < SHORTEST_SECRET) return undefined
      // Most answers end here: only escapes of JSON could hide it from a search of the text.
      return pattern.test(text) || text.includes('\\') ? placeOf(value, pattern) : undefined
    },
  }
}

const formsOf = (key: string): readonly string[] => {
  const bytes = Buffer.from(key)
  const plain = [...key].map(orPercent).join('')
  return key.length < SHORTEST_SECRET ? [plain] : [plain, bytes.toString('hex'), ...base64Forms(bytes)]
}

/** Any part of a text may be percent-encoded, whether it has to be or not. */
const orPercent = (char: string): string => {
  const encoded = Buffer.from(char).toString('hex').replace(/../g, '%$&')
  return `(?:${literally(char)}|${encoded})`
}

const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

/** What base64 makes of the key whatever is before and after it: three ways, by where its bytes begin. */
const base64Forms = (bytes: Buffer): readonly string[] =>
  [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64url')
    const own = text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
    return own.replaceAll('-', '[+-]').replaceAll('_', '[/_]')
  })

/** Not by recursion: an answer may be as deep as it likes. */
const placeOf = (root: unknown, pattern: RegExp): string | undefined => {
  const left: { readonly value: unknown; readonly place: string }[] = [{ value: root, place: '' }]
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    const { value, place } = one
    if (typeof value === 'string' && pattern.test(value)) return place
    if (typeof value !== 'object' || value === null) continue
    for (const [name, below] of Object.entries(value)) {
      if (pattern.test(name)) return `a name in ${place === '' ? 'the body' : place}`
      if (typeof below === 'string' || typeof below === 'object') {
        left.push({ value: below, place: place === '' ? name : `${place}.${name}` })
      }
    }
  }
  return undefined
}
