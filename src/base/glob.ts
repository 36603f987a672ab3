/**
 * Globs over branch names: `*` within one segment (segments are separated by `/`), `**` across segments, `?` one
 * character, `[a-z]` and `[!a-z]` sets, `{a,b}` alternatives. There is no backtracking: matching takes time
 * proportional to the length of the pattern times that of the name.
 */

type Token =
  | { readonly kind: 'literal'; readonly char: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'set'; readonly negated: boolean; readonly ranges: readonly (readonly [string, string])[] }
  | { readonly kind: 'star'; readonly acrossSegments: boolean }

const MAX_ALTERNATIVES = 100
/** The service's names are far shorter. */
const MAX_LENGTH = 1_000

/** Why `pattern` is invalid, to complete a sentence; `undefined` if it is valid. */
export const globProblem = (pattern: string): string | undefined => {
  if (pattern === '') return 'it is empty'
  if (pattern.length > MAX_LENGTH) return `it has more than ${MAX_LENGTH} characters`
  const alternatives = expand(pattern)
  if (alternatives === undefined) return 'a `{` is not closed'
  if (alternatives.length > MAX_ALTERNATIVES) return `it has more than ${MAX_ALTERNATIVES} alternatives`
  const tokens = alternatives.map(tokenize)
  if (tokens.includes(undefined)) return 'a `[` is not closed'
  return tokens.some((list) => list?.some(isBackwards)) ? 'a range in `[…]` is reversed' : undefined
}

/** Whether the whole of `name` matches. A pattern with a {@link globProblem} matches nothing. */
export const globMatches = (pattern: string, name: string): boolean => globMatcher(pattern)(name)

/** {@link globMatches} for many names: parses the pattern once. */
export const globMatcher = (pattern: string): ((name: string) => boolean) => {
  if (globProblem(pattern) !== undefined) return () => false
  const alternatives = (expand(pattern) ?? []).map((alternative) => tokenize(alternative) ?? [])
  return (name) => {
    const chars = [...name]
    return alternatives.some((tokens) => matches(tokens, chars))
  }
}

/** Matches the names that one of `included` matches (default: all names) and none of `excluded`. */
export const globFilter = (
  included: readonly string[] | undefined,
  excluded: readonly string[] = [],
): ((name: string) => boolean) => {
  const [wanted, unwanted] = [included?.map(globMatcher), excluded.map(globMatcher)]
  return (name) =>
    (wanted === undefined || wanted.some((matches) => matches(name))) && !unwanted.some((matches) => matches(name))
}

/** Expands `a{b,c}d` to `abd` and `acd`, innermost braces first. `undefined` if braces are unbalanced. */
const expand = (pattern: string): readonly string[] | undefined => {
  let open = -1
  for (let index = 0; index < pattern.length; index += 1) {
    if (pattern[index] === '{') open = index
    if (pattern[index] === '}' && open >= 0) {
      const [head, tail] = [pattern.slice(0, open), pattern.slice(index + 1)]
      const expanded: string[] = []
      for (const option of pattern.slice(open + 1, index).split(',')) {
        const inner = expand(head + option + tail)
        if (inner === undefined) return undefined
        expanded.push(...inner)
        if (expanded.length > MAX_ALTERNATIVES) return expanded
      }
      return expanded
    }
  }
  return open >= 0 ? undefined : [pattern]
}

const tokenize = (pattern: string): readonly Token[] | undefined => {
  const chars = [...pattern]
  const tokens: Token[] = []
  for (let index = 0; index < chars.length; index += 1) {
    const char = chars[index] ?? ''
    if (char === '*') {
      const acrossSegments = chars[index + 1] === '*'
      if (acrossSegments) index += 1
      tokens.push({ kind: 'star', acrossSegments })
    } else if (char === '?') {
      tokens.push({ kind: 'any' })
    } else if (char === '[') {
      // A set is never empty, so a `]` in first position is a member.
      const close = chars.indexOf(']', index + (isNegation(chars[index + 1]) ? 3 : 2))
      if (close < 0) return undefined
      tokens.push(toSet(chars.slice(index + 1, close)))
      index = close
    } else {
      tokens.push({ kind: 'literal', char })
    }
  }
  return tokens
}

const isNegation = (char: string | undefined): boolean => char === '!' || char === '^'

const isBackwards = (token: Token): boolean => token.kind === 'set' && token.ranges.some(([from, to]) => from > to)

const toSet = (inner: readonly string[]): Token => {
  const negated = isNegation(inner[0])
  const members = negated ? inner.slice(1) : inner
  const ranges: [string, string][] = []
  for (let index = 0; index < members.length; index += 1) {
    const from = members[index] ?? ''
    const to = members[index + 1] === '-' ? members[index + 2] : undefined
    ranges.push([from, to ?? from])
    if (to !== undefined) index += 2
  }
  return { kind: 'set', negated, ranges }
}

/** Tracks all possible positions in `tokens` at once, one character at a time. */
const matches = (tokens: readonly Token[], name: readonly string[]): boolean => {
  // Fast path: up to the first star there is only one position, and most names fail early.
  let read = 0
  for (let token = tokens[0]; token !== undefined && token.kind !== 'star'; token = tokens[read]) {
    const char = name[read]
    if (char === undefined || !accepts(token, char)) return false
    read += 1
  }
  let reached = close(tokens, new Set([read]))
  for (const char of name.slice(read)) {
    const next = new Set<number>()
    for (const position of reached) {
      const token = tokens[position]
      if (token === undefined) continue
      if (token.kind === 'star') {
        if (token.acrossSegments || char !== '/') next.add(position)
      } else if (accepts(token, char)) {
        next.add(position + 1)
      }
    }
    reached = close(tokens, next)
    if (reached.size === 0) return false
  }
  return reached.has(tokens.length)
}

/** A star may also match nothing. */
const close = (tokens: readonly Token[], positions: Set<number>): Set<number> => {
  for (const position of positions) {
    if (tokens[position]?.kind === 'star') positions.add(position + 1)
  }
  return positions
}

const accepts = (token: Exclude<Token, { kind: 'star' }>, char: string): boolean => {
  switch (token.kind) {
    case 'literal':
      return token.char === char
    case 'any':
      return char !== '/'
    case 'set':
      return char !== '/' && token.ranges.some(([from, to]) => from <= char && char <= to) !== token.negated
  }
}
