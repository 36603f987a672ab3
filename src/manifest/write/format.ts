/** A manifest in canonical order and spelling. What has no reason to change keeps every byte. */
import { isMap, isScalar, isSeq, LineCounter, type Node, Scalar, visit } from 'yaml'
import { formatDuration, parseDuration } from '../../model/index.ts'
import { isShared } from '../read/document.ts'
import { readDocuments, type YamlDocument } from '../yaml/documents.ts'
import { DOCUMENT, rankOf, type Shape } from './canonical.ts'
import { blockChunks, type Chunk, contentEnd, flowChunks, keyOf, type ParsedMap, startOf, valueAt } from './layout.ts'
import { applyEdits, type TextEdit } from './text-edits.ts'

/**
 * @returns the text with its keys in canonical order (comments go where their entry goes) and its values in canonical
 *   spelling (`300s` is `5m`, `{ min: 2, max: 2 }` is `2`). The order of branches, replicas, profiles and rules is the
 *   author's. Documents that are no manifests, or no YAML, are left as they are; so is the order of one with anchors,
 *   which must stand before what repeats them.
 */
export const formatManifest = (text: string): string => {
  let formatted = text
  // What moves away may leave a value that has a shorter spelling now.
  for (let pass = 0; pass < PASSES; pass += 1) {
    const again = formatOnce(formatted)
    if (again === formatted) break
    formatted = again
  }
  return formatted
}

const PASSES = 3

const formatOnce = (text: string): string => {
  const edits: TextEdit[] = []
  for (const { document, problems } of readDocuments(text, new LineCounter())) {
    const root = document?.contents
    if (problems.length > 0 || !isMap(root) || !isManifest(root as ParsedMap)) continue
    edits.push(...editsOf(text, root as ParsedMap, DOCUMENT, !hasAnchors(document), true))
  }
  return applyEdits(text, edits)
}

/** Other YAML may lie beside manifests. */
const isManifest = (root: ParsedMap): boolean => {
  const keys = root.items.map(({ key }) => keyOf(key))
  return (keys.includes('version') && keys.includes('project')) || isShared(keys)
}

const hasAnchors = (document: YamlDocument['document']): boolean => {
  let found = false
  if (document === undefined) return found
  visit(document, {
    Node: (_key, node) => {
      if (!('anchor' in node) || node.anchor === undefined) return undefined
      found = true
      return visit.BREAK
    },
  })
  return found
}

const editsOf = (text: string, map: ParsedMap, shape: Shape, canMove: boolean, isRoot = false): readonly TextEdit[] => {
  const inside = map.items.flatMap(({ key, value }): readonly TextEdit[] => {
    if (value === null) return []
    const name = keyOf(key)
    const spelled = spell(text, key, value, (shape.each ?? shape.values[name])?.spelling)
    if (spelled !== undefined) return [spelled]
    const below = shape.each ?? shape.values[name]
    return below === undefined ? [] : editsBelow(text, value, below, canMove)
  })
  return canMove ? reordered(text, map, shape, inside, isRoot) : inside
}

const editsBelow = (text: string, value: Node, shape: Shape, canMove: boolean): readonly TextEdit[] => {
  if (isMap(value)) return editsOf(text, value as ParsedMap, shape, canMove)
  if (!isSeq(value) || shape.each === undefined) return []
  const { each } = shape
  return value.items.flatMap((item) => (isMap(item) ? editsOf(text, item as ParsedMap, each, canMove) : []))
}

/** One edit that puts the entries in order, with the edits inside of them; or those alone where order is right. */
const reordered = (
  text: string,
  map: ParsedMap,
  shape: Shape,
  inside: readonly TextEdit[],
  isRoot: boolean,
): readonly TextEdit[] => {
  const ranks = map.items.map(({ key }) => rankOf(shape, keyOf(key)))
  if (ranks.every((rank, index) => index === 0 || (ranks[index - 1] ?? 0) <= rank)) return inside
  const chunks = map.flow === true ? flowChunks(text, map) : blockChunks(text, map, isRoot)
  const [first, last] = [chunks?.[0], chunks?.at(-1)]
  if (chunks === undefined || first === undefined || last === undefined) return inside
  const sorted = chunks.toSorted((a, b) => rankOf(shape, a.key) - rankOf(shape, b.key))
  const parts = chunks.map((slot, index) => {
    const { start, end } = sorted[index] as Chunk
    const next = chunks[index + 1]
    return applyEdits(text, inside, start, end) + (next === undefined ? '' : text.slice(slot.end, next.start))
  })
  return [{ start: first.start, end: last.end, text: parts.join('') }]
}

const ON_ONE_LINE = new Set<unknown>([Scalar.PLAIN, Scalar.QUOTE_SINGLE, Scalar.QUOTE_DOUBLE])

/** The edit that gives a value its canonical spelling; `undefined` where it has it. */
const spell = (text: string, key: Node, value: Node, spelling: string | undefined): TextEdit | undefined => {
  if (isScalar(value) && !ON_ONE_LINE.has(value.type)) return undefined
  if (spelling === 'duration' && isScalar(value) && typeof value.value === 'string') {
    const seconds = parseDuration(value.value)
    return seconds === undefined ? undefined : respelled(text, value, formatDuration(seconds))
  }
  if (spelling === undefined || spelling === 'duration') return undefined
  if (isScalar(value)) return typeof value.value === 'number' ? respelled(text, value, `${value.value}`) : undefined
  return isMap(value) && spelling === 'size' ? fixed(text, key, value as ParsedMap) : undefined
}

/** A range of one size is a fixed size. */
const fixed = (text: string, key: Node, range: ParsedMap): TextEdit | undefined => {
  const [start, end] = [key.range?.[1] ?? 0, contentEnd(range)]
  const values = range.items.map(({ value }) => (isScalar(value) ? value.value : undefined))
  const isFixed =
    values.length === 2 &&
    typeof values[0] === 'number' &&
    values[0] === values[1] &&
    ['min', 'max'].every((name) => valueAt(range, name) !== undefined)
  // Where an anchor or a comment stands in there, taking it out would take that too; `? key` is written in its own way.
  const isPlain = /^:\s/.test(text.slice(start, end)) && !/[&#]/.test(text.slice(start, end))
  return isFixed && isPlain ? { start, end, text: `: ${values[0]}` } : undefined
}

/** Quotes stay. */
const respelled = (text: string, node: Node, canonical: string): TextEdit | undefined => {
  const [start, end] = [startOf(node), contentEnd(node)]
  const written = text.slice(start, end)
  const quote = /^(["']).*\1$/.exec(written)?.[1] ?? ''
  const wanted = `${quote}${canonical}${quote}`
  return written === wanted ? undefined : { start, end, text: wanted }
}
