/** A YAML document as plain values, each of which remembers its place in the text. */
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type LineCounter,
  type Node,
  type ParsedNode,
  visit,
} from 'yaml'
import type { Diagnostic, ManifestCode, Source } from '../../model/index.ts'
import { LONGEST_MESSAGE, MAX_ALIASES, MAX_DOCUMENT_TOKENS } from '../files/limits.ts'
import { sourceAt } from './place.ts'

export type Plain = null | string | number | boolean | readonly Plain[] | { readonly [key: string]: Plain }

export interface TreeOptions {
  readonly file: string
  readonly text: string
  readonly lines: LineCounter
  readonly document: Document.Parsed<ParsedNode>
  /** Problems are added here. */
  readonly diagnostics: Diagnostic[]
}

interface Entry {
  readonly key?: Node
  readonly value: Node | null
}

/** Where a map (by key) or a list (by index) keeps its nodes. No key of a manifest is a symbol, and no loop visits one. */
const ENTRIES = Symbol('entries')

type Entries = ReadonlyMap<string, Entry> | Entry[]

const entriesOf = (parent: object): Entries | undefined => (parent as { readonly [ENTRIES]?: Entries })[ENTRIES]

const keepEntries = (parent: object, entries: Entries): void => {
  Object.defineProperty(parent, ENTRIES, { value: entries })
}

/** Ends the walk of a document that its aliases would make too large. */
class TooLarge extends Error {}

export class Tree {
  readonly file: string
  readonly value: Plain
  readonly #text: string
  readonly #lines: LineCounter
  readonly #document: Document.Parsed<ParsedNode>
  readonly #diagnostics: Diagnostic[]
  #anchors: ReadonlyMap<string, readonly Node[]> | undefined
  #aliases = 0
  #values = 0

  constructor({ file, text, lines, document, diagnostics }: TreeOptions) {
    this.file = file
    this.#text = text
    this.#lines = lines
    this.#document = document
    this.#diagnostics = diagnostics
    this.value = this.#read()
  }

  /** Where the value of a key (or of an index) starts; without one, where the map or list itself does. */
  source(parent: object | undefined, key?: string | number): Source {
    const entry = parent === undefined || key === undefined ? undefined : this.#entry(parent, key)
    return this.#sourceOf(entry?.value ?? entry?.key ?? this.#document.contents)
  }

  keySource(parent: object, key: string): Source {
    return this.#sourceOf(this.#entry(parent, key)?.key)
  }

  /** A scalar as it was written: `1.50` and not `1.5`. */
  written(parent: object, key: string): string | undefined {
    const node = this.#entry(parent, key)?.value
    return isScalar(node) ? (node.source ?? String(node.value)) : undefined
  }

  /** Takes values out of a map, by key, or out of a list, by index. */
  remove(parent: object, keys: ReadonlySet<string>): void {
    const entries = entriesOf(parent)
    if (Array.isArray(parent) && Array.isArray(entries)) {
      const stay = (_: unknown, index: number): boolean => !keys.has(String(index))
      parent.splice(0, parent.length, ...parent.filter(stay))
      entries.splice(0, entries.length, ...entries.filter(stay))
    } else for (const key of keys) delete (parent as Record<string, unknown>)[key]
  }

  report(code: ManifestCode, source: Source, message: string, hint?: string): undefined {
    this.#diagnostics.push({
      severity: 'error',
      code,
      message: short(message),
      ...(hint === undefined ? {} : { hint: short(hint) }),
      source,
    })
    return undefined
  }

  #entry(parent: object, key: string | number): Entry | undefined {
    const entries = entriesOf(parent)
    return Array.isArray(entries) ? entries[Number(key)] : entries?.get(String(key))
  }

  #read(): Plain {
    try {
      return this.#plain(this.#follow(this.#document.contents))
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error
      const hint = 'Use profiles instead of aliases.'
      const message = `With its aliases followed, this document has more than ${MAX_DOCUMENT_TOKENS} values.`
      this.report('E_ALIAS_LIMIT', this.source(undefined), message, hint)
      return {}
    }
  }

  #plain(node: Node | null): Plain {
    this.#values += 1
    if (this.#values > MAX_DOCUMENT_TOKENS) throw new TooLarge()
    if (isMap(node)) return this.#map(node.items as readonly { key: Node; value: Node | null }[])
    if (isSeq(node)) return this.#list(node.items as readonly (Node | null)[])
    return isScalar(node) ? (node.value as Plain) : null
  }

  #map(pairs: readonly { readonly key: Node; readonly value: Node | null }[]): Plain {
    const entries = new Map<string, Entry>()
    // Without a prototype, so that a key may have any name.
    const result: Record<string, Plain> = Object.create(null)
    for (const pair of pairs) {
      const keyNode = this.#follow(pair.key)
      if (!isScalar(keyNode)) {
        this.report('E_TYPE', this.#sourceOf(pair.key), 'A key must be plain text.')
        continue
      }
      const key = String(keyNode.source ?? keyNode.value)
      const first = entries.get(key)?.key
      if (first !== undefined) {
        const message = `The key \`${key}\` is already set in line ${this.#sourceOf(first).line}.`
        this.report('E_DUPLICATE_KEY', this.#sourceOf(keyNode), message, 'Keep one of the two.')
        continue
      }
      const value = this.#follow(pair.value)
      // An alias that leads nowhere has been reported.
      if (value === null && isAlias(pair.value)) continue
      entries.set(key, { key: keyNode, value })
      result[key] = this.#plain(value)
    }
    keepEntries(result, entries)
    return result
  }

  #list(items: readonly (Node | null)[]): Plain {
    const values = items.map((item) => this.#follow(item))
    const result = values.map((value) => this.#plain(value))
    keepEntries(
      result,
      values.map((value) => ({ value })),
    )
    return result
  }

  /** What an alias refers to; a limited number of them. */
  #follow(node: Node | null | undefined): Node | null {
    if (!isAlias(node)) return node ?? null
    this.#aliases += 1
    if (this.#aliases === MAX_ALIASES + 1) {
      const message = `This document has more than ${MAX_ALIASES} aliases.`
      this.report('E_ALIAS_LIMIT', this.#sourceOf(node), message, 'Use profiles instead.')
    }
    if (this.#aliases > MAX_ALIASES) return null
    this.#anchors ??= collectAnchors(this.#document)
    const [start] = node.range ?? [0]
    // An anchor may be defined again: the last one before the alias counts, and it must have ended there.
    const target = this.#anchors.get(node.source)?.findLast(({ range }) => range != null && range[1] <= start)
    if (target !== undefined) return target
    this.report('E_YAML', this.#sourceOf(node), `There is no anchor \`${node.source}\` before this alias.`)
    return null
  }

  #sourceOf(node: Node | null | undefined): Source {
    const [start, end] = node?.range ?? this.#document.range
    return sourceAt(this.file, this.#text, this.#lines, start, end)
  }
}

/** A name can be as long as its file, and a message appears in a table, a comment or a log. */
export const short = (words: string): string =>
  words.length <= LONGEST_MESSAGE ? words : `${words.slice(0, LONGEST_MESSAGE)}…`

const collectAnchors = (document: Document.Parsed<ParsedNode>): ReadonlyMap<string, readonly Node[]> => {
  const anchors = new Map<string, Node[]>()
  visit(document, {
    Value: (_key, node) => {
      if (node.anchor === undefined) return
      const known = anchors.get(node.anchor)
      if (known === undefined) anchors.set(node.anchor, [node as Node])
      else known.push(node as Node)
    },
  })
  return anchors
}
