/** What reading one document needs: where things stand, and where problems go. */
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  type LineCounter,
  type Node,
  type ParsedNode,
  visit,
  type YAMLMap,
} from 'yaml'
import { nearest } from '../../base/index.ts'
import type { Diagnostic, SizeTable, Source } from '../../model/index.ts'
import type { DiagnosticCode } from '../codes.ts'
import { LONGEST_MESSAGE, MAX_ALIASES } from '../files/limits.ts'

export interface Entry {
  readonly key: string
  readonly keyNode: Node
  /** With aliases followed. */
  readonly value: Node | null
}

export class ReadContext {
  readonly file: string
  readonly sizeTable: SizeTable
  readonly diagnostics: Diagnostic[]
  readonly #lines: LineCounter
  readonly #text: string
  readonly #document: Document.Parsed<ParsedNode>
  #anchors: Map<string, Node[]> | undefined
  #aliases = 0

  constructor(options: {
    file: string
    text: string
    lines: LineCounter
    document: Document.Parsed<ParsedNode>
    sizeTable: SizeTable
    diagnostics: Diagnostic[]
  }) {
    this.file = options.file
    this.sizeTable = options.sizeTable
    this.diagnostics = options.diagnostics
    this.#lines = options.lines
    this.#text = options.text
    this.#document = options.document
  }

  get root(): Node | null {
    return this.follow(this.#document.contents)
  }

  /** Of a node; the part of it on its first line. */
  source(node: Node | null | undefined): Source {
    const [start, end] = node?.range ?? this.#document.range
    return sourceAt(this.file, this.#text, this.#lines, start, end)
  }

  report(code: DiagnosticCode, node: Node | null | undefined, message: string, hint?: string): undefined {
    this.diagnostics.push({
      severity: 'error',
      code,
      message: short(message),
      ...(hint === undefined ? {} : { hint: short(hint) }),
      source: this.source(node),
    })
    return undefined
  }

  /** Where an alias points; so many and no more. */
  follow(node: Node | null | undefined): Node | null {
    if (!isAlias(node)) return node ?? null
    this.#aliases += 1
    if (this.#aliases === MAX_ALIASES + 1) {
      this.report('E_ALIAS_LIMIT', node, `This document follows more than ${MAX_ALIASES} aliases.`, 'Use profiles.')
    }
    if (this.#aliases > MAX_ALIASES) return null
    this.#anchors ??= collectAnchors(this.#document)
    const [start] = node.range ?? [0]
    // An anchor may be set anew: the last one before the alias counts.
    const target = this.#anchors.get(node.source)?.findLast(({ range }) => range != null && range[0] < start)
    return target ?? this.report('E_YAML', node, `No anchor \`${node.source}\` stands before this alias.`) ?? null
  }

  /**
   * The entries of a map whose keys are known, each key once. Unknown keys, duplicates and nulls are reported and left
   * out. `undefined` where it is not a map.
   *
   * @param hintOf says more of an unknown key than the nearest one.
   */
  known(
    node: Node | null,
    what: string,
    allowed: readonly string[],
    hintOf: (key: string) => string | undefined = () => undefined,
  ): ReadonlyMap<string, Entry> | undefined {
    const entries = this.entries(node, what)
    if (entries === undefined) return undefined
    const result = new Map<string, Entry>()
    for (const entry of entries) {
      if (allowed.includes(entry.key)) {
        result.set(entry.key, entry)
        continue
      }
      this.report(
        'E_UNKNOWN_KEY',
        entry.keyNode,
        `${what} has no key \`${entry.key}\`; it takes ${list(allowed)}.`,
        hintOf(entry.key) ?? didYouMean(entry.key, allowed),
      )
    }
    return result
  }

  /** The entries of a map with keys of any name, each once; null values are reported and left out. */
  entries(node: Node | null, what: string): readonly Entry[] | undefined {
    if (!isMap(node)) return this.wrongType(node, what, 'a map')
    const seen = new Map<string, Node>()
    const result: Entry[] = []
    for (const pair of (node as YAMLMap<Node, Node | null>).items) {
      const keyNode = this.follow(pair.key)
      if (keyNode === null || !isScalar(keyNode)) {
        this.report('E_TYPE', pair.key, `A key of ${what} is not a plain word.`)
        continue
      }
      const key = String(keyNode.source ?? keyNode.value)
      const first = seen.get(key)
      if (first !== undefined) {
        const { line } = this.source(first)
        this.report(
          'E_DUPLICATE_KEY',
          keyNode,
          `The key \`${key}\` stands twice in ${what}; the first is in line ${line}.`,
          'Merge the two.',
        )
        continue
      }
      seen.set(key, keyNode)
      const value = this.follow(pair.value)
      // An alias that leads nowhere has been reported.
      if (value === null && isAlias(pair.value)) continue
      if (value === null || (isScalar(value) && value.value === null)) {
        this.report(
          'E_NULL',
          value ?? keyNode,
          `\`${key}\` has no value.`,
          'Give it one, or delete the key: what is left out is not managed.',
        )
        continue
      }
      result.push({ key, keyNode, value })
    }
    return result
  }

  wrongType(node: Node | null | undefined, what: string, wanted: string, hint?: string): undefined {
    return this.report('E_TYPE', node, `${what} must be ${wanted}, not ${nameOf(node)}.`, hint)
  }
}

/** The place of a stretch of text, cut at the end of its first line. */
export const sourceAt = (file: string, text: string, lines: LineCounter, start: number, end: number): Source => {
  const { line, col } = lines.linePos(start)
  // Of a line without end no more is searched than anybody would mark.
  const stretch = text.slice(start, Math.min(end, start + LONGEST_MARK))
  const lineEnd = stretch.indexOf('\n')
  const length = lineEnd < 0 ? stretch.length : lineEnd
  return { file, line: Math.max(1, line), column: Math.max(1, col), length: Math.max(1, length) }
}

const LONGEST_MARK = 1_000

/** A name can be as long as its file, and a message stands in a table, a comment or a log. */
export const short = (words: string): string =>
  words.length <= LONGEST_MESSAGE ? words : `${words.slice(0, LONGEST_MESSAGE)}…`

/** Nothing where no known word is near: a wrong hint is worse than none. */
export const didYouMean = (word: string, known: readonly string[]): string | undefined => {
  const near = word.length > LONGEST_MESSAGE ? undefined : nearest(word, known)
  return near === undefined ? undefined : `Did you mean \`${near}\`?`
}

/** `a`, `b` or `c`. */
export const list = (words: readonly (string | number)[]): string => {
  const quoted = words.map((word) => `\`${word}\``)
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
}

const nameOf = (node: Node | null | undefined): string => {
  if (node === null || node === undefined) return 'empty'
  if (isMap(node)) return 'a map'
  if (!isScalar(node)) return 'a list'
  if (node.value === null) return 'empty'
  return { string: 'text', number: 'a number', boolean: 'a boolean' }[typeof node.value as string] ?? 'that'
}

const collectAnchors = (document: Document.Parsed<ParsedNode>): Map<string, Node[]> => {
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
