/** Converts a composed document to plain values with their positions, and resolves aliases. */
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

// Limits for YAML, which may be untrusted.
export const MAX_DEPTH = 64
export const MAX_ALIASES = 1_000
/** YAML tokens (keys, values, newlines). A compute has about twenty, and a token takes about 500 bytes of memory. */
export const MAX_DOCUMENT_TOKENS = 400_000
/** Total of all files of a run. */
export const MAX_TOTAL_TOKENS = 4_000_000
/** More problems would not help anyone. */
export const MAX_PROBLEMS = 1_000

export type Plain = null | string | number | boolean | readonly Plain[] | { readonly [key: string]: Plain }

/** Offsets into the text. */
export interface Stretch {
  readonly start: number
  readonly end: number
}

export interface Entry extends Stretch {
  /** Position of the key, in a map. */
  readonly key: Stretch | undefined
  /** Source text of a scalar, without quotes. */
  readonly written: string | undefined
}

/** Entries of a map by key, or of a list by index. */
export type Entries = ReadonlyMap<string, Entry> | Entry[]

/** A whole document. */
export interface Content extends Stretch {
  readonly value: Plain
  /** Entries of each map and list in the document. */
  readonly entries: ReadonlyMap<object, Entries>
}

export const isPlainMap = (value: unknown): value is { readonly [key: string]: Plain } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `message` and `hint` are sentences. `kind` says which limit or rule is broken, for readers that add advice. */
export interface YamlProblem extends Stretch {
  readonly kind: 'syntax' | 'depth' | 'tokens' | 'aliases' | 'key' | 'duplicate'
  readonly message: string
  readonly hint?: string
}

/** If aliases would make the document too large, reports that and returns an empty document. */
export const readNodes = (
  document: Document.Parsed<ParsedNode>,
  lines: LineCounter,
): { readonly content: Content; readonly problems: readonly YamlProblem[] } => {
  const [start, end] = document.contents?.range ?? document.range
  const reader = new NodeReader(document, lines)
  const { entries, problems } = reader
  try {
    return { content: { value: reader.read(), entries, start, end }, problems }
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error
    const message = `The aliases expand this document to more than ${MAX_DOCUMENT_TOKENS} values.`
    return {
      content: { value: {}, entries, start, end },
      problems: [...problems, { kind: 'aliases', message, start, end }],
    }
  }
}

export const NO_TAGS = { message: 'YAML tags are not allowed.', hint: 'Remove the tag.' } as const

class TooLarge extends Error {}

class NodeReader {
  readonly entries = new Map<object, Entries>()
  readonly problems: YamlProblem[] = []
  readonly #document: Document.Parsed<ParsedNode>
  readonly #lines: LineCounter
  #anchors: ReadonlyMap<string, readonly Node[]> | undefined
  #aliases = 0
  #values = 0

  constructor(document: Document.Parsed<ParsedNode>, lines: LineCounter) {
    this.#document = document
    this.#lines = lines
  }

  read(): Plain {
    return this.#plain(this.#follow(this.#document.contents))
  }

  #plain(node: Node | null): Plain {
    this.#values += 1
    if (this.#values > MAX_DOCUMENT_TOKENS) throw new TooLarge()
    this.#rejectTag(node)
    if (isMap(node)) return this.#map(node.items as readonly { key: Node; value: Node | null }[])
    if (isSeq(node)) return this.#list(node.items as readonly (Node | null)[])
    return isScalar(node) ? (node.value as Plain) : null
  }

  #map(pairs: readonly { readonly key: Node; readonly value: Node | null }[]): Plain {
    const entries = new Map<string, Entry>()
    // Without a prototype, so that any key is safe.
    const result: Record<string, Plain> = Object.create(null)
    for (const pair of pairs) {
      const keyNode = this.#follow(pair.key)
      if (!isScalar(keyNode)) {
        this.#report('key', pair.key, 'A key must be a string.')
        continue
      }
      this.#rejectTag(keyNode)
      const key = String(keyNode.source ?? keyNode.value)
      const first = entries.get(key)?.key
      if (first !== undefined) {
        const message = `The key \`${key}\` is already set on line ${this.#lines.linePos(first.start).line}.`
        const hint = isMap(pair.value) ? 'Move the content of one entry into the other.' : 'Keep one of the two.'
        this.#report('duplicate', keyNode, message, hint)
        continue
      }
      const value = this.#follow(pair.value)
      // An unresolved alias has already been reported.
      if (value === null && isAlias(pair.value)) continue
      entries.set(key, entryOf(value ?? keyNode, stretchOf(keyNode)))
      result[key] = this.#plain(value)
    }
    this.entries.set(result, entries)
    return result
  }

  #list(items: readonly (Node | null)[]): Plain {
    const values = items.map((item) => this.#follow(item))
    const result = values.map((value) => this.#plain(value))
    this.entries.set(
      result,
      values.map((value) => entryOf(value ?? this.#document.contents ?? this.#document)),
    )
    return result
  }

  /** Resolves an alias, up to {@link MAX_ALIASES} per document. */
  #follow(node: Node | null | undefined): Node | null {
    if (!isAlias(node)) return node ?? null
    this.#aliases += 1
    if (this.#aliases === MAX_ALIASES + 1) {
      this.#report('aliases', node, `This document has more than ${MAX_ALIASES} aliases.`)
    }
    if (this.#aliases > MAX_ALIASES) return null
    this.#anchors ??= collectAnchors(this.#document)
    const [start] = node.range ?? [0]
    // An anchor may be redefined: use the last one before the alias. Its node must be complete by then.
    const target = this.#anchors.get(node.source)?.findLast(({ range }) => range != null && range[1] <= start)
    if (target !== undefined) return target
    this.#report('syntax', node, `No anchor \`${node.source}\` precedes this alias.`)
    return null
  }

  /** The composer itself rejects only tags that it does not know. */
  #rejectTag(node: Node | null): void {
    if (node !== null && 'tag' in node && node.tag !== undefined)
      this.#report('syntax', node, NO_TAGS.message, NO_TAGS.hint)
  }

  #report(kind: YamlProblem['kind'], node: Node, message: string, hint?: string): void {
    const at = stretchOf(node) ?? { start: 0, end: 0 }
    this.problems.push({ kind, message, ...at, ...(hint === undefined ? {} : { hint }) })
  }
}

const stretchOf = ({ range }: Pick<Node, 'range'>): Stretch | undefined =>
  range == null ? undefined : { start: range[0], end: range[1] }

const entryOf = (value: Pick<Node, 'range'>, key?: Stretch): Entry => ({
  ...(stretchOf(value) ?? { start: 0, end: 0 }),
  key,
  written: isScalar(value) ? (value.source ?? String(value.value)) : undefined,
})

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
