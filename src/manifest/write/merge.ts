/** Writes values into an existing manifest. The rest of the text is not changed. */
import { Document, isAlias, isCollection, isMap, isScalar, isSeq, LineCounter, type Node } from 'yaml'
import { readDocuments } from '../../base/yaml/index.ts'
import { DOCUMENT, NO_SHAPE, rankOf, type Shape } from './canonical.ts'
import type { Written } from './from-live.ts'
import {
  applyEdits,
  blockChunks,
  contentEnd,
  endOfBlock,
  flowChunks,
  indentOf,
  keyOf,
  type ParsedMap,
  startOf,
  type TextEdit,
  valueAt,
} from './layout.ts'
import { compactBelow, toText } from './style.ts'

/** Something in the text, such as an alias or a comment, prevents writing a value. */
export class MergeBlocked extends Error {
  readonly path: readonly string[]
  /** Offset into the text. */
  readonly offset: number

  /** @param obstacle `there is an alias` */
  constructor(obstacle: string, path: readonly string[], offset: number) {
    super(obstacle)
    this.path = path
    this.offset = offset
  }
}

/**
 * Writes `values` into a project's document: existing keys get the new value, others are added in canonical order. If a
 * project has several documents, each branch goes to the one that lists it, or else to the first one.
 *
 * @throws {MergeBlocked}
 */
export const mergeIntoManifest = (text: string, project: string, values: Written): string => {
  if (values.size === 0) return text
  const roots = rootsOf(text, project)
  const [first] = roots
  if (first === undefined) throw new MergeBlocked('the file has no document for the project', ['project'], 0)
  const shares = new Map(roots.map((root) => [root, new Map<string, unknown>()]))
  for (const [key, value] of values) {
    for (const [name, one] of key === 'branches' ? (value as Written) : [['', value] as const]) {
      const home = roots.find((root) => key === 'branches' && lists(root, name)) ?? first
      const share = shares.get(home) as Written
      if (key !== 'branches') share.set(key, one)
      else share.set(key, new Map([...((share.get(key) as Written | undefined) ?? []), [name, one]]))
    }
  }
  return applyEdits(
    text,
    [...shares].flatMap(([root, share]) => new Merging(text).into(root, share, DOCUMENT, [])),
  )
}

const lists = (root: ParsedMap, branch: string): boolean => {
  const branches = valueAt(root, 'branches')
  return isMap(branches) && valueAt(branches as ParsedMap, branch) !== undefined
}

const rootsOf = (text: string, project: string): readonly ParsedMap[] => {
  const roots: ParsedMap[] = []
  for (const { document, problems } of readDocuments(text, new LineCounter())) {
    const root = document?.contents
    if (problems.length > 0 || !isMap(root)) continue
    const projects = valueAt(root as ParsedMap, 'projects')
    if (isSeq(projects) && projects.items.some((one) => isScalar(one) && one.value === project)) {
      throw new MergeBlocked('the document is for several projects', ['projects'], startOf(projects))
    }
    const id = valueAt(root as ParsedMap, 'project')
    if (isScalar(id) && id.value === project) roots.push(root as ParsedMap)
  }
  return roots
}

class Merging {
  readonly #text: string
  readonly #newline: string

  constructor(text: string) {
    this.#text = text
    this.#newline = text.includes('\r\n') ? '\r\n' : '\n'
  }

  into(map: ParsedMap, values: Written, shape: Shape, path: readonly string[]): readonly TextEdit[] {
    const edits: TextEdit[] = []
    const added: (readonly [string, unknown])[] = []
    for (const [key, value] of values) {
      const pair = map.items.find((one) => keyOf(one.key) === key)
      const at = [...path, key]
      if (pair === undefined) added.push([key, value])
      else if (isMap(pair.value) && value instanceof Map) {
        const below = shape.each ?? shape.values.get(key) ?? NO_SHAPE
        edits.push(...this.into(pair.value as ParsedMap, value, below, at))
      } else if (Array.isArray(value)) edits.push(this.#appended(pair.key, pair.value, value, at))
      else edits.push(this.#replaced(map, pair.key, pair.value, value, at))
    }
    if (added.length === 0) return edits
    const sorted = added.toSorted(([a], [b]) => rankOf(shape, a) - rankOf(shape, b))
    return [...edits, ...this.#added(map, sorted, shape, path)]
  }

  #replaced(map: ParsedMap, key: Node, before: Node | null, value: unknown, path: readonly string[]): TextEdit {
    const keyEnd = key.range?.[1] ?? 0
    const blocked = (obstacle: string): MergeBlocked => new MergeBlocked(obstacle, path, startOf(key))
    if (before === null) throw blocked('it has no value')
    if (isAlias(before)) throw blocked('there is an alias')
    if (before.anchor !== undefined) throw blocked('there is an anchor')
    const end = endOfValue(this.#text, before)
    const taken = this.#text.slice(keyEnd, end)
    // A `#` inside a string counts too: better to report an obstacle than to lose a comment.
    if (taken.includes('#')) throw blocked('there is a comment in its value')
    if (!/^\s*:/.test(taken)) throw blocked('its key is written with `?`')
    // The old value may start on the line below the key.
    const isBelow = map.flow !== true && this.#text.slice(keyEnd, startOf(before)).includes('\n')
    return isBelow
      ? { start: keyEnd, end, text: `: ${inFlow(value)}` }
      : { start: startOf(before), end, text: inFlow(value) }
  }

  #appended(key: Node, list: Node | null, items: readonly unknown[], path: readonly string[]): TextEdit {
    const last = isSeq(list) && list.flow !== true ? (list.items.at(-1) as Node | undefined) : undefined
    const start = last === undefined ? 0 : startOf(last)
    const line = this.#text.slice(this.#text.lastIndexOf('\n', start - 1) + 1, start)
    const [, indent] = /^( *)- +$/.exec(line) ?? []
    if (last === undefined || indent === undefined) {
      throw new MergeBlocked('its items are not on separate lines', path, startOf(key))
    }
    const document = new Document(items)
    compactBelow(document, 2)
    const lines = toText(document).trimEnd().split('\n')
    const end = endOfBlock(this.#text, last, indent.length)
    return { start: end, end, text: lines.map((one) => `${this.#newline}${indent}${one}`).join('') }
  }

  #added(
    map: ParsedMap,
    added: readonly (readonly [string, unknown])[],
    shape: Shape,
    path: readonly string[],
  ): readonly TextEdit[] {
    const [isFlow, isRoot] = [map.flow === true, path.length === 0]
    if (isFlow && map.items.length === 0) {
      return [{ start: startOf(map), end: contentEnd(map), text: inFlow(new Map(added)) }]
    }
    const chunks = isFlow ? flowChunks(this.#text, map) : blockChunks(this.#text, map, isRoot)
    const [first] = chunks ?? []
    if (chunks === undefined || first === undefined) {
      const obstacle = isFlow ? 'there is a comment inside its braces' : 'its entries are not on separate lines'
      throw new MergeBlocked(obstacle, path, startOf(map))
    }
    const indent = ' '.repeat(indentOf(this.#text, map))
    const between = isFlow ? ', ' : `${this.#newline}${indent}`
    return added.map(([key, value]) => {
      const entry = isFlow ? inFlow(new Map([[key, value]])) : inBlock(key, value, this.#stepOf(map), isRoot)
      const lines = (isFlow ? entry.slice(1, -1).trim() : entry).split('\n')
      const text = lines.map((line, index) => (index === 0 || line === '' ? line : indent + line)).join(this.#newline)
      const before = chunks.findLast((chunk) => rankOf(shape, chunk.key) <= rankOf(shape, key))
      return before === undefined
        ? { start: first.start, end: first.start, text: `${text}${between}` }
        : { start: before.end, end: before.end, text: `${between}${text}` }
    })
  }

  /** Indentation of one level in this map. */
  #stepOf(map: ParsedMap): number {
    for (const { value } of map.items) {
      if (!isMap(value) || value.flow === true || value.items.length === 0) continue
      const step = indentOf(this.#text, value as ParsedMap) - indentOf(this.#text, map)
      if (step > 0) return step
    }
    return 2
  }
}

/** The end of a value. A block scalar includes its last newline, which must stay. */
const endOfValue = (text: string, value: Node): number => {
  let end = contentEnd(value)
  while (end > 0 && /[\r\n]/.test(text[end - 1] ?? '')) end -= 1
  return end
}

const inFlow = (value: unknown): string => {
  const document = new Document(value)
  if (isCollection(document.contents)) document.contents.flow = true
  return toText(document).trimEnd()
}

const inBlock = (key: string, value: unknown, indent: number, isRoot: boolean): string => {
  const document = new Document(new Map([[key, value]]))
  // At the top level, even short maps are written on several lines, as in a new manifest.
  compactBelow(document, isRoot ? 2 : 1)
  return toText(document, indent).trimEnd()
}
