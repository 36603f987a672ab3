/**
 * Reads simple documents (block maps, block lists and single-line words) directly from their tokens. Manifests of large
 * fleets are written like this, and composing nodes would double the time that it takes to read them.
 */
import { type CST, isScalar, type ScalarTag, Schema } from 'yaml'
import { type Content, type Entries, type Entry, MAX_DEPTH, type Plain, type Stretch } from './nodes.ts'

/** Returns `undefined` if the document contains anything else, or may have an error. It must then be composed. */
export const readTokens = ({ start, value, end = [] }: CST.Document): Content | undefined => {
  try {
    if (value?.type !== 'block-map') return undefined
    const isMarked = start.some(({ type }) => type === 'doc-start')
    if (isMarked && !hasNewline(start)) return undefined
    checkSeparators(start, true, isMarked ? 'doc-start' : undefined)
    checkSeparators(end, false)
    const entries = new Map<object, Entries>()
    return { value: readMap(value, entries, 1), entries, start: value.offset, end: PAST_ITS_LINE }
  } catch (error) {
    if (error instanceof NotSimple) return undefined
    throw error
  }
}

class NotSimple extends Error {}

/** An end beyond any line, because ranges are cut at the end of their first line anyway. */
const PAST_ITS_LINE = 2 ** 30

const readMap = ({ items, indent }: CST.BlockMap, all: Map<object, Entries>, depth: number): Plain => {
  const entries = new Map<string, Entry>()
  // The keys of a large map may be names, and thus arbitrary. For small maps, a plain object is faster.
  const result: Record<string, Plain> = items.length > MOST_ATTRIBUTES ? Object.create(null) : {}
  for (const { start, key, sep, value } of items) {
    checkSeparators(start, true)
    // Trailing comments.
    if (key === undefined && sep === undefined) continue
    if (key == null || sep === undefined || value === undefined || !isWord(key) || key.indent !== indent) {
      throw new NotSimple()
    }
    checkSeparators(sep, false, 'map-value-ind')
    if ('items' in value && !hasNewline(sep)) throw new NotSimple()
    const name = wordOf(key)
    if (key.end !== undefined || key.source.length > LONGEST_KEY || entries.has(name) || name === '__proto__') {
      throw new NotSimple()
    }
    const keyPlace = { start: key.offset, end: key.offset + key.source.length }
    result[name] = readValue(value, all, depth, keyPlace, (entry) => entries.set(name, entry))
  }
  all.set(result, entries)
  return result
}

const MOST_ATTRIBUTES = 16

const readList = ({ items }: CST.BlockSequence, all: Map<object, Entries>, depth: number): Plain => {
  const entries: Entry[] = []
  const result = items.map(({ start, value }) => {
    checkSeparators(start, true, 'seq-item-ind')
    if (value === undefined) throw new NotSimple()
    return readValue(value, all, depth, undefined, (entry) => entries.push(entry))
  })
  all.set(result, entries)
  return result
}

const readValue = (
  token: CST.Token,
  all: Map<object, Entries>,
  depth: number,
  key: Stretch | undefined,
  keep: (entry: Entry) => void,
): Plain => {
  if (depth > MAX_DEPTH) throw new NotSimple()
  const start = token.offset
  if (isWord(token)) {
    const written = wordOf(token)
    keep({ start, end: start + token.source.length, key, written })
    return token.type === 'scalar' ? resolveWord(written) : written
  }
  keep({ start, end: PAST_ITS_LINE, key, written: undefined })
  if (token.type === 'block-map') return readMap(token, all, depth + 1)
  if (token.type === 'block-seq') return readList(token, all, depth + 1)
  throw new NotSimple()
}

/** A longer key may be an error, because YAML limits keys to 1,024 characters. */
const LONGEST_KEY = 1_000

const isWord = (token: CST.Token): token is CST.FlowScalar =>
  token.type === 'scalar' || token.type === 'single-quoted-scalar' || token.type === 'double-quoted-scalar'

const QUOTED = /^(?:'[^'\n]*'|"[^"\\\n]*")$/
/** Words that start with a character without special meaning in YAML. */
const WORD = /^[A-Za-z0-9_./+~-][^\n]*$/

const wordOf = ({ type, source, end }: CST.FlowScalar): string => {
  if (end !== undefined) checkSeparators(end, false)
  if (!(type === 'scalar' ? WORD : QUOTED).test(source)) throw new NotSimple()
  return type === 'scalar' ? source : source.slice(1, -1)
}

const TAGS = new Schema({ schema: 'core' }).tags.filter(
  (tag): tag is ScalarTag & { test: RegExp } => tag.default === true && 'test' in tag && tag.test !== undefined,
)

const DECIMAL = /^\d{1,9}(?:\.\d{1,6})?$/
/** Too long to be a keyword such as `false`. */
const TEXT = /^[A-Za-z]\w{5}/

const resolveWord = (word: string): Plain => {
  if (TEXT.test(word)) return word
  if (DECIMAL.test(word)) return Number(word)
  const tag = TAGS.find(({ test }) => test.test(word))
  if (tag === undefined) return word
  const value = tag.resolve(word, refuse, {})
  return (isScalar(value) ? value.value : value) as Plain
}

const refuse = (): never => {
  throw new NotSimple()
}

const hasNewline = (tokens: readonly CST.SourceToken[]): boolean => tokens.some(({ type }) => type === 'newline')

/** Accepts white space, comments and the required indicator. A comment needs white space before it. */
const checkSeparators = (
  tokens: readonly CST.SourceToken[],
  isLineStart: boolean,
  indicator?: CST.SourceToken['type'],
): void => {
  let isMissing = indicator !== undefined
  let isSpaced = isLineStart
  for (const { type, source } of tokens) {
    const isSpace = type === 'newline' || (type === 'space' && !source.includes('\t'))
    if (type === indicator && isMissing) isMissing = false
    else if (!isSpace && !(type === 'comment' && isSpaced)) throw new NotSimple()
    isSpaced = isSpace
  }
  if (isMissing) throw new NotSimple()
}
