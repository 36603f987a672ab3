/** A YAML document as plain values, with positions and problems. */
import type { LineCounter } from 'yaml'
import type { Content, Entries, Entry, Plain, Stretch, YamlProblem } from '../../base/yaml/index.ts'
import { type Diagnostic, type DiagnosticCode, problem, type Source } from '../../model/index.ts'
import { type Words, words } from '../words/words.ts'

export interface Sourced<T> {
  readonly value: T
  readonly source: Source
}

interface TreeOptions {
  readonly file: string
  readonly text: string
  readonly lines: LineCounter
  readonly content: Content
  /** Problems are added here. */
  readonly diagnostics: Diagnostic[]
}

export class Tree {
  readonly file: string
  readonly value: Plain
  readonly #text: string
  readonly #lines: LineCounter
  /** Position of the whole document. */
  readonly #whole: Stretch
  readonly #entries: ReadonlyMap<object, Entries>
  readonly #diagnostics: Diagnostic[]

  constructor({ file, text, lines, content, diagnostics }: TreeOptions) {
    this.file = file
    this.#text = text
    this.#lines = lines
    this.#diagnostics = diagnostics
    this.#whole = content
    this.#entries = content.entries
    this.value = content.value
  }

  /** Position of the value of a key or index. Without a parent or key, position of the whole document. */
  source(parent: object | undefined, key?: string | number): Source {
    return this.#sourceOf(parent === undefined || key === undefined ? undefined : this.#entry(parent, key))
  }

  keySource(parent: object, key: string): Source {
    return this.#sourceOf(this.#entry(parent, key)?.key)
  }

  /** A value with its position; `undefined` if the map does not have the key. */
  sourced<T extends object, K extends keyof T & string>(
    parent: T,
    key: K,
  ): Sourced<Exclude<T[K], undefined>> | undefined {
    const value = parent[key] as Exclude<T[K], undefined> | undefined
    return value === undefined ? undefined : { value, source: this.source(parent, key) }
  }

  /** Source text of a scalar: `1.50`, not `1.5`. */
  written(parent: object, key: string): string | undefined {
    return this.#entry(parent, key)?.written
  }

  /** Removes values from a map by key, or from a list by index. */
  remove(parent: object, keys: ReadonlySet<string>): void {
    const entries = this.#entries.get(parent)
    if (Array.isArray(parent) && Array.isArray(entries)) {
      const stay = (_: unknown, index: number): boolean => !keys.has(String(index))
      parent.splice(0, parent.length, ...parent.filter(stay))
      entries.splice(0, entries.length, ...entries.filter(stay))
    } else for (const key of keys) delete (parent as Record<string, unknown>)[key]
  }

  report(code: DiagnosticCode, source: Source, message: string, hint?: string): undefined {
    this.#diagnostics.push(problem(code, short(message), hint && short(hint), source))
    return undefined
  }

  #entry(parent: object, key: string | number): Entry | undefined {
    const entries = this.#entries.get(parent)
    return Array.isArray(entries) ? entries[Number(key)] : entries?.get(String(key))
  }

  #sourceOf({ start, end }: Stretch = this.#whole): Source {
    return sourceAt(this.file, this.#text, this.#lines, start, end)
  }
}

/** What a problem in YAML means for a manifest. */
const YAML: Readonly<Record<YamlProblem['kind'], { readonly code: DiagnosticCode; readonly hint?: string }>> = {
  syntax: { code: 'E_YAML' },
  depth: { code: 'E_TOO_LARGE' },
  tokens: {
    code: 'E_TOO_LARGE',
    hint: 'Write one document per project, and use rules and profiles instead of repetition.',
  },
  aliases: { code: 'E_TOO_LARGE', hint: 'Use profiles instead of aliases.' },
  key: { code: 'E_VALUE' },
  duplicate: { code: 'E_DUPLICATE' },
}

export const yamlWords = ({ kind, message, hint }: YamlProblem): Words => {
  const { code, hint: advice } = YAML[kind]
  return words(code, message, hint ?? advice)
}

/** Maximum length of a message or hint, in characters. */
const LONGEST_MESSAGE = 500

/** Truncates a message, because it may quote a name that is as long as the file. */
export const short = (words: string): string =>
  words.length <= LONGEST_MESSAGE ? words : `${words.slice(0, LONGEST_MESSAGE)}…`

/** The maximum length of a marked range, for very long lines. */
const LONGEST_MARK = 1_000

/** The position of a text range. A range of several lines is cut at the end of its first line. */
export const sourceAt = (file: string, text: string, lines: LineCounter, start: number, end: number): Source => {
  const { line, col } = lines.linePos(start)
  const stretch = text.slice(start, Math.min(end, start + LONGEST_MARK))
  const lineEnd = stretch.indexOf('\n')
  const length = lineEnd < 0 ? stretch.length : lineEnd
  return { file, line: Math.max(1, line), column: Math.max(1, col), length: Math.max(1, length) }
}
