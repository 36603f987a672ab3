/** Edits of a manifest's text. Finds the text of each entry of a map, including its comments, so that it can be moved. */
import { isCollection, isMap, isScalar, type Node, type Pair, type YAMLMap } from 'yaml'

/** A parsed map: keys and values are nodes. */
export type ParsedMap = YAMLMap<Node, Node | null>

export interface Chunk {
  readonly key: string
  readonly pair: Pair<Node, Node | null>
  /**
   * From the entry's first comment, or its key, to the end of its last line; without leading indentation and the final
   * newline.
   */
  readonly start: number
  readonly end: number
}

export const keyOf = (key: Node): string => (isScalar(key) ? String(key.source ?? key.value) : '')

export const valueAt = (map: ParsedMap, key: string): Node | null | undefined =>
  map.items.find((pair) => keyOf(pair.key) === key)?.value

export const startOf = (node: Node): number => node.range?.[0] ?? 0

/** Column of the map's keys, from 0. */
export const indentOf = (text: string, map: ParsedMap): number => {
  const first = map.items[0]
  return first === undefined ? 0 : startOf(first.key) - lineStart(text, startOf(first.key))
}

/** Returns `undefined` if entries are not on lines of their own, or use `? key`. */
export const blockChunks = (text: string, map: ParsedMap, isRoot: boolean): readonly Chunk[] | undefined => {
  const indent = indentOf(text, map)
  const chunks: Chunk[] = []
  for (const [index, pair] of map.items.entries()) {
    const key = startOf(pair.key)
    const line = lineStart(text, key)
    const before = text.slice(line, key)
    if (key - line !== indent || (index > 0 && before.trim() !== '')) return undefined
    const isAlone = before.trim() === ''
    // Comments above a document's first key belong to the document. Editors look for the schema there.
    const hasOwnComments = isAlone && !(isRoot && index === 0)
    const start = hasOwnComments ? commentsAbove(text, line, indent, chunks.at(-1)?.end ?? 0) + indent : key
    chunks.push({ key: keyOf(pair.key), pair, start, end: endOfBlock(text, pair.value ?? pair.key, indent) })
  }
  return chunks
}

/** Returns `undefined` if there is a comment, since it is unclear to which entry it belongs. */
export const flowChunks = (text: string, map: ParsedMap): readonly Chunk[] | undefined => {
  const [start, end] = map.range ?? [0, 0]
  if (text.slice(start, end).includes('#')) return undefined
  return map.items.map((pair) => ({
    key: keyOf(pair.key),
    pair,
    start: startOf(pair.key),
    end: pair.value?.range?.[1] ?? pair.key.range?.[1] ?? 0,
  }))
}

/** End of a node without trailing comments. */
export const contentEnd = (node: Node): number => {
  if (isCollection(node) && node.flow !== true) {
    const last = node.items.at(-1) as Pair<Node, Node | null> | Node | undefined
    if (last !== undefined) {
      if (!isMap(node)) return contentEnd(last as Node)
      const { key, value } = last as Pair<Node, Node | null>
      return value === null ? (key.range?.[1] ?? 0) : contentEnd(value)
    }
  }
  return node.range?.[1] ?? 0
}

/** End of an entry's last line. @param last the last node of the entry. @param indent column of the entry. */
export const endOfBlock = (text: string, last: Node, indent: number): number => {
  const content = contentEnd(last)
  // A block scalar ends after its newline.
  let end = endOfLine(text, text[content - 1] === '\n' ? content - 1 : content)
  // Comments that are indented further than the keys belong to this entry, even below blank lines.
  for (let line = text.indexOf('\n', end) + 1; line > 0; line = text.indexOf('\n', line) + 1) {
    if (isBlank(text, line) && line < text.length) continue
    if (!(commentIndent(text, line) > indent)) break
    end = endOfLine(text, line)
  }
  return end
}

/** Start of the comments above a key, including blank lines between them. */
const commentsAbove = (text: string, line: number, indent: number, stop: number): number => {
  let first = line
  for (let at = line; at > stop; ) {
    at = lineStart(text, at - 1)
    if (at < stop || !(isBlank(text, at) || commentIndent(text, at) === indent)) break
    if (!isBlank(text, at)) first = at
  }
  return first
}

const isBlank = (text: string, line: number): boolean => text.slice(line, endOfLine(text, line)).trim() === ''

/** Column of a comment line; NaN for other lines. */
const commentIndent = (text: string, line: number): number => {
  let at = line
  while (text[at] === ' ') at += 1
  return text[at] === '#' ? at - line : Number.NaN
}

const lineStart = (text: string, offset: number): number => text.lastIndexOf('\n', offset - 1) + 1

const endOfLine = (text: string, offset: number): number => {
  const newline = text.indexOf('\n', offset)
  const end = newline < 0 ? text.length : newline
  return end > 0 && text[end - 1] === '\r' ? end - 1 : end
}

/** Replaces a range of a text. */
export interface TextEdit {
  /** Offsets into the text; `end` is exclusive. */
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Returns `text` from `start` to `end` with the edits in that range applied. Edits must not overlap; any order. */
export const applyEdits = (
  text: string,
  edits: readonly TextEdit[],
  start: number = 0,
  end: number = text.length,
): string => {
  let done = start
  let result = ''
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    if (edit.start < start || edit.end > end) continue
    result += text.slice(done, edit.start) + edit.text
    done = edit.end
  }
  return result + text.slice(done, end)
}
