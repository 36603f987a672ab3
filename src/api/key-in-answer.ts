/** Finds the API key in responses of a server or a proxy, in any encoding from which it could be recovered. */

/** A shorter key could occur in a normal response by chance. */
const SHORTEST_SECRET = 16

export interface KeyFinder {
  /** Removes the key from text that is displayed. */
  readonly hide: (text: string) => string
  /**
   * The path of a value that contains the key, such as `branches.0.name`; `undefined` if there is none. `text` is the
   * JSON from which the value was parsed.
   */
  readonly find: (value: unknown, text: string) => string | undefined
}

export const keyFinder = (key: string): KeyFinder => {
  const pattern = new RegExp(encodingsOf(key).join('|'), 'i')
  const all = new RegExp(pattern.source, 'gi')
  return {
    // Most strings do not contain the key, and compiling another pattern takes a few milliseconds.
    hide: (text) => (pattern.test(text) ? text.replace(all, '[the key]') : text),
    find: (value, text) => {
      if (key.length < SHORTEST_SECRET) return undefined
      // Fast path for most responses: only JSON escapes could hide the key from a search of the text.
      return pattern.test(text) || text.includes('\\') ? pathOf(value, pattern) : undefined
    },
  }
}

const encodingsOf = (key: string): readonly string[] => {
  const bytes = Buffer.from(key)
  const plain = [...key].map(charPattern).join('')
  return key.length < SHORTEST_SECRET ? [plain] : [plain, bytes.toString('hex'), ...base64Forms(bytes)]
}

/** Any character may be percent-encoded, even one that need not be. */
const charPattern = (char: string): string => {
  const encoded = Buffer.from(char).toString('hex').replace(/../g, '%$&')
  return `(?:${escapeRegex(char)}|${encoded})`
}

const escapeRegex = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

/** Base64 of the key inside other data: there are three forms, depending on the offset of its first byte. */
const base64Forms = (bytes: Buffer): readonly string[] =>
  [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64url')
    const own = text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
    return own.replaceAll('-', '[+-]').replaceAll('_', '[/_]')
  })

/** Without recursion, because responses may be nested arbitrarily deeply. */
const pathOf = (root: unknown, pattern: RegExp): string | undefined => {
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
