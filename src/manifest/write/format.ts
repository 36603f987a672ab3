/** Formats a manifest: canonical order and spelling. Everything else is kept byte for byte. */
import { isMap, isScalar, isSeq, LineCounter, type Node, Scalar, visit } from 'yaml'
import { type ParsedDocument, readDocuments } from '../../base/yaml/index.ts'
import type { AnyAttributeRow } from '../../model/index.ts'
import { isShared } from '../read/read-layer.ts'
import { DOCUMENT, rankOf, type Shape } from './canonical.ts'
import {
  applyEdits,
  blockChunks,
  type Chunk,
  contentEnd,
  flowChunks,
  keyOf,
  type ParsedMap,
  startOf,
  type TextEdit,
} from './layout.ts'

/**
 * Puts keys in canonical order, together with their comments, and values in canonical spelling (`300s` becomes `5m`, `{
 * min: 2, max: 2 }` becomes `2`). Branches, replicas, profiles and rules stay in the author's order. Documents that are
 * not manifests or not valid YAML are not changed. If a document has anchors, its order is kept, because they must
 * precede their aliases.
 */
export const formatManifest = (text: string): string => {
  let formatted = text
  // Moving keys may make shorter spellings possible.
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

const isManifest = (root: ParsedMap): boolean => {
  const keys = root.items.map(({ key }) => keyOf(key))
  return (keys.includes('version') && (keys.includes('project') || keys.includes('projects'))) || isShared(keys)
}

const hasAnchors = (document: ParsedDocument['document']): boolean => {
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
    const below = shape.each ?? shape.values.get(keyOf(key))
    if (value === null || below === undefined) return []
    const spelled = below.attribute === undefined ? undefined : respell(text, key, value, below.attribute)
    return spelled ?? editsBelow(text, value, below, canMove)
  })
  return canMove ? reordered(text, map, shape, inside, isRoot) : inside
}

const editsBelow = (text: string, value: Node, shape: Shape, canMove: boolean): readonly TextEdit[] => {
  if (isMap(value)) return editsOf(text, value as ParsedMap, shape, canMove)
  if (!isSeq(value) || shape.each === undefined) return []
  const { each } = shape
  return value.items.flatMap((item) => (isMap(item) ? editsOf(text, item as ParsedMap, each, canMove) : []))
}

/** Edits that put the entries in order, including the edits inside the entries. */
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

/** Edits that write an attribute as `import` would; `undefined` if there are none. */
const respell = (text: string, key: Node, value: Node, row: AnyAttributeRow): readonly TextEdit[] | undefined => {
  const canonical = canonicalOf(value, row)
  if (isPlain(canonical))
    return isMap(value) ? collapsed(text, key, value, canonical) : respelled(text, value, canonical)
  if (!isMap(value) || !(canonical instanceof Map)) return undefined
  const edits = (value as ParsedMap).items.flatMap((pair) => {
    const entry: unknown = canonical.get(keyOf(pair.key))
    return pair.value !== null && isPlain(entry) ? (respelled(text, pair.value, entry) ?? []) : []
  })
  return edits.length === 0 ? undefined : edits
}

type PlainValue = string | number | boolean

const isPlain = (value: unknown): value is PlainValue => ['string', 'number', 'boolean'].includes(typeof value)

/** Entries of a map (Postgres settings) are kept as written. */
const canonicalOf = (node: Node, row: AnyAttributeRow): unknown => {
  if (row.type === 'map' || !(isScalar(node) || isMap(node))) return undefined
  const given: unknown = isScalar(node) ? node.value : node.toJSON()
  if (given === null) return undefined
  const value = row.read(given, { written: () => undefined, report: () => undefined })
  // Do not drop unknown keys: they are errors to report.
  const isWhole = !isMap(node) || Object.keys(value ?? {}).length === node.items.length
  return value === undefined || !isWhole ? undefined : row.write(value, {})
}

/** Replaces a map with a plain value, for example `{ min: 2, max: 2 }` with `2`. */
const collapsed = (text: string, key: Node, map: Node, canonical: PlainValue): readonly TextEdit[] | undefined => {
  const [start, end] = [key.range?.[1] ?? 0, contentEnd(map)]
  // Not if an anchor or a comment would be lost, and not after `? key`, where the colon is on another line.
  const canGo = /^:\s/.test(text.slice(start, end)) && !/[&#]/.test(text.slice(start, end))
  return canGo ? [{ start, end, text: `: ${canonical}` }] : undefined
}

const ON_ONE_LINE = new Set<unknown>([Scalar.PLAIN, Scalar.QUOTE_SINGLE, Scalar.QUOTE_DOUBLE])

/** Keeps quotes. */
const respelled = (text: string, node: Node, canonical: PlainValue): readonly TextEdit[] | undefined => {
  if (!isScalar(node) || !ON_ONE_LINE.has(node.type)) return undefined
  const spelling = typeof canonical === 'string' ? node.value : node.source
  if (typeof node.value !== typeof canonical || spelling === String(canonical)) return undefined
  const [start, end] = [startOf(node), contentEnd(node)]
  const quote = /^["']/.exec(text.slice(start, end))?.[0] ?? ''
  return [{ start, end, text: `${quote}${canonical}${quote}` }]
}
