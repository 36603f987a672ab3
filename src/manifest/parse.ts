/** Texts to `Desired`: no file system here. */
import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { isScalar, LineCounter } from 'yaml'
import { type DesiredDocument, type Diagnostic, SIZE_TABLE, type SizeTable, type Source } from '../model/index.ts'
import { MAX_FILE_BYTES, MAX_PROBLEMS } from './files/limits.ts'
import { checkClaims } from './read/claims.ts'
import type { Base } from './read/compute.ts'
import { list, ReadContext, short, sourceAt } from './read/context.ts'
import { EMPTY_BASE, type FindShared, readDocument, readShared } from './read/document.ts'
import { isSeed } from './read/seed.ts'
import { schemaProblem } from './schema/validate.ts'
import type { LoadedManifests, LoadOptions, ManifestFile } from './types.ts'
import { readDocuments, tokenBudget, type YamlDocument } from './yaml/documents.ts'

/** The file at a path (forward slashes, as people are shown it), or why it cannot be had. */
export type FindFile = (path: string) => ManifestFile | string

/**
 * Reads manifests from texts; `extends` is looked for among them.
 *
 * @returns everything that could be read, and every problem of every file.
 */
export const parseManifests = (files: readonly ManifestFile[], options: LoadOptions = {}): LoadedManifests => {
  const byPath = new Map(files.map((file) => [posix.normalize(file.path), file]))
  return parseWith(files, options.sizeTable ?? SIZE_TABLE, (path) => byPath.get(path) ?? 'there is no such file')
}

export const parseWith = (
  files: readonly ManifestFile[],
  sizeTable: SizeTable,
  findFile: FindFile,
  found: readonly Diagnostic[] = [],
): LoadedManifests => {
  const run = new Reading(sizeTable, findFile)
  const documents = files.flatMap((file) => run.readFile(file))
  const manifests = files.filter(({ path }) => !run.seeds.includes(path))
  if (manifests.length === 0 && found.length === 0) run.diagnostics.push(nothingFound(run.seeds))
  const texts = new Map([...manifests, ...run.shared].map((file) => [file.path, file.text]))
  return {
    desired: { documents },
    diagnostics: firstOf([...found, ...run.diagnostics, ...checkClaims(documents)].sort(byPlace).filter(isNew)),
    files: [...texts.keys()].sort(),
    seeds: run.seeds,
    digest: digestOf(texts),
    lineOf: lineReader(texts),
  }
}

/** Forwards from the line that was asked for last: problems come in order, and a file may be all line ends. */
const lineReader = (texts: ReadonlyMap<string, string>): LoadedManifests['lineOf'] => {
  const cursors = new Map<string, { line: number; offset: number }>()
  return ({ file, line }) => {
    const text = texts.get(file)
    if (text === undefined) return undefined
    const last = cursors.get(file)
    const cursor = last !== undefined && last.line <= line ? last : { line: 1, offset: 0 }
    cursors.set(file, cursor)
    while (cursor.line < line) {
      const end = text.indexOf('\n', cursor.offset)
      if (end < 0) return undefined
      cursor.line += 1
      cursor.offset = end + 1
    }
    const end = text.indexOf('\n', cursor.offset)
    return text.slice(cursor.offset, end < 0 ? text.length : end).replace(/\r$/, '')
  }
}

const firstOf = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.length <= MAX_PROBLEMS ? diagnostics : [...diagnostics.slice(0, MAX_PROBLEMS), tooMany]

const tooMany: Diagnostic = {
  severity: 'error',
  code: 'E_TOO_MANY',
  message: `There are more problems than these ${MAX_PROBLEMS}.`,
  hint: 'Correct them, and look again.',
}

const nothingFound = (seeds: readonly string[]): Diagnostic => ({
  severity: 'error',
  code: 'E_NO_MANIFESTS',
  message:
    seeds.length === 0
      ? 'There is no manifest here: no file that ends in .yaml or .yml.'
      : `There is no manifest here, only a sandbox seed: ${list(seeds)}.`,
  hint: 'Name files, folders or globs. An empty set of manifests never means "delete everything".',
})

class Reading {
  readonly diagnostics: Diagnostic[] = []
  /** Files that were reached by `extends` only. */
  readonly shared: ManifestFile[] = []
  /** Paths of files that are sandbox seeds. */
  readonly seeds: string[] = []
  readonly #sizeTable: SizeTable
  readonly #findFile: FindFile
  readonly #bases = new Map<string, Base | undefined>()
  readonly #tokens = tokenBudget()

  constructor(sizeTable: SizeTable, findFile: FindFile) {
    this.#sizeTable = sizeTable
    this.#findFile = findFile
  }

  readFile(file: ManifestFile): readonly DesiredDocument[] {
    const lines = new LineCounter()
    const documents: DesiredDocument[] = []
    let any = false
    let seed: ReadContext | undefined
    for (const parsed of this.#documentsOf(file, lines)) {
      if (this.diagnostics.length > MAX_PROBLEMS) return documents
      const context = this.#contextOf(parsed, file, lines)
      if (context === undefined) {
        any = true
        continue
      }
      if (isBlank(parsed)) continue
      if (!any && isSeed(parsed)) {
        any = true
        seed = context
        continue
      }
      // With a document after it, it is no file that a sandbox takes.
      if (seed !== undefined) readDocument(seed, (from, node, path) => this.#findShared(from, node, path))
      seed = undefined
      any = true
      const before = this.diagnostics.length
      const document = readDocument(context, (from, node, path) => this.#findShared(from, node, path))
      // The schema is for documents of a project; of one that is known to be wrong it would say the same again.
      if (document === undefined) continue
      documents.push(document)
      if (this.diagnostics.length === before) this.#checkSchema(parsed, context)
    }
    if (!any)
      this.#add(file, lines, 'E_EMPTY', 'The file holds no document.', 'Add a manifest, or delete the file.', 0, 1)
    if (seed !== undefined) this.seeds.push(file.path)
    return documents
  }

  *#documentsOf(file: ManifestFile, lines: LineCounter): Iterable<YamlDocument> {
    if (file.text.length > MAX_FILE_BYTES) {
      const mib = (file.text.length / 1024 / 1024).toFixed(0)
      this.#add(
        file,
        lines,
        'E_TOO_LARGE',
        `The file has ${mib} MiB; at most 32 MiB are read.`,
        'Give each project a file of its own.',
        0,
        1,
      )
      yield { problems: [] }
      return
    }
    yield* readDocuments(file.text, lines, this.#tokens)
  }

  /** `undefined` where YAML itself has a problem, which is then reported. */
  #contextOf(parsed: YamlDocument, file: ManifestFile, lines: LineCounter): ReadContext | undefined {
    for (const { code, message, hint, start, end } of parsed.problems) {
      this.#add(file, lines, code, message, hint, start, end)
    }
    if (parsed.document === undefined || parsed.problems.length > 0) return undefined
    return new ReadContext({
      file: file.path,
      text: file.text,
      lines,
      document: parsed.document,
      sizeTable: this.#sizeTable,
      diagnostics: this.diagnostics,
    })
  }

  readonly #findShared = ((context, node, path) => {
    const target = posix.normalize(posix.join(posix.dirname(context.file), path))
    if (posix.isAbsolute(path) || target.startsWith('../')) {
      return context.report(
        'E_EXTENDS',
        node,
        '`extends` must stay inside the tree of the manifests.',
        'Write a path relative to this file.',
      )
    }
    if (this.#bases.has(target)) return this.#bases.get(target)
    const file = this.#findFile(target)
    if (typeof file === 'string') {
      return context.report(
        'E_EXTENDS',
        node,
        `\`extends\` names ${list([target])}, but ${file}.`,
        'The path is relative to this file.',
      )
    }
    this.shared.push(file)
    const lines = new LineCounter()
    const [first, second] = this.#documentsOf(file, lines)
    if (second !== undefined) {
      context.report(
        'E_EXTENDS',
        node,
        'A shared file holds one document only.',
        'Split it, and extend the one that is meant.',
      )
    }
    const shared = first && this.#contextOf(first, file, lines)
    const base = shared === undefined ? EMPTY_BASE : (readShared(shared) ?? EMPTY_BASE)
    this.#bases.set(target, base)
    return base
  }) satisfies FindShared

  #checkSchema({ document }: YamlDocument, context: ReadContext): void {
    const problem = schemaProblem(document?.toJS({ maxAliasCount: -1 }), this.#sizeTable)
    if (problem === undefined) return
    const path = problem.pointer
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    const node = document?.getIn(path, true)
    const at = typeof node === 'object' && node !== null && 'range' in node ? (node as never) : undefined
    context.report('E_SCHEMA', at, `\`${path.join('.')}\` does not fit the schema: ${problem.message}.`)
  }

  #add(
    file: ManifestFile,
    lines: LineCounter,
    code: string,
    message: string,
    hint: string | undefined,
    start: number,
    end: number,
  ): void {
    this.diagnostics.push({
      severity: 'error',
      code,
      message: short(message),
      ...(hint === undefined ? {} : { hint }),
      source: sourceAt(file.path, file.text, lines, start, end),
    })
  }
}

/** Nothing but comments, as between two separators. */
const isBlank = ({ document }: YamlDocument): boolean => {
  const contents = document?.contents
  return contents === null || contents === undefined || (isScalar(contents) && contents.value === null)
}

const digestOf = (texts: ReadonlyMap<string, string>): string => {
  const hash = createHash('sha256')
  for (const path of [...texts.keys()].sort()) {
    const text = texts.get(path) ?? ''
    hash.update(`${path}\0${text.length}\0${text}\0`)
  }
  return hash.digest('hex')
}

const byPlace = (a: Diagnostic, b: Diagnostic): number =>
  comparePlaces(a.source, b.source) || compare(a.code, b.code) || compare(a.message, b.message)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** A shared file that is also named, and what an alias points at, are read more than once. */
const isNew = (diagnostic: Diagnostic, index: number, sorted: readonly Diagnostic[]): boolean => {
  const before = sorted[index - 1]
  return before === undefined || byPlace(before, diagnostic) !== 0
}

const comparePlaces = (a: Source | undefined, b: Source | undefined): number => {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined)
  return compare(a.file, b.file) || a.line - b.line || a.column - b.column
}
