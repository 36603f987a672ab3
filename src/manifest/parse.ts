/** Parses manifests. Does not access the file system. */
import { posix } from 'node:path'
import { LineCounter } from 'yaml'
import { isPlainMap, MAX_PROBLEMS, readContents, tokenBudget } from '../base/yaml/index.ts'
import {
  bySource,
  compareSource,
  type DesiredDocument,
  type DesiredWave,
  type Diagnostic,
  placeWords,
  problem,
  type Source,
  startOfFile,
} from '../model/index.ts'
import type { ManifestValue, SharedValue, WavesValue } from './definition/manifest.ts'
import * as validators from './generated/validator.js'
import { checkClaims } from './read/claims.ts'
import { EMPTY_LAYER, type Layer, overlay, resolveLayer } from './read/layer.ts'
import { isDeclaring, isPolicyFile, isSeed, isShared, readLayer, readWaves } from './read/read-layer.ts'
import { type Sourced, short, sourceAt, Tree, yamlWords } from './read/tree.ts'
import type { LoadedManifests, ManifestFile } from './types.ts'
import { validPart } from './valid-part.ts'
import { list, NO_MANIFESTS_HINT, type Words, words } from './words/words.ts'

export const MAX_FILE_BYTES = 32 * 1024 * 1024

export const FILE_TOO_LARGE: Words = words(
  'E_TOO_LARGE',
  'The file is larger than 32 MiB.',
  'Put each project in a separate file.',
)

/** Returns the file at a display path (with forward slashes), or the reason why it cannot be read, as a sentence. */
export type FindFile = (path: string) => ManifestFile | Unreadable
type Unreadable = Pick<Diagnostic, 'message' | 'hint'>

export const NO_SUCH_FILE: Unreadable = {
  message: 'The file does not exist.',
  hint: 'Paths in `extends` are relative to this file.',
}

/**
 * Parses manifests from texts. `extends` is resolved among them.
 *
 * @returns everything that could be read, and all problems.
 */
export const parseManifests = (files: readonly ManifestFile[]): LoadedManifests => {
  const byPath = new Map(files.map((file) => [posix.normalize(file.path), file]))
  return parseWith(files, (path) => byPath.get(path) ?? NO_SUCH_FILE)
}

export const parseWith = (
  files: readonly ManifestFile[],
  findFile: FindFile,
  found: readonly Diagnostic[] = [],
): LoadedManifests => {
  const run = new Reading(findFile)
  const documents = files.flatMap((file) => run.readFile(file))
  run.checkShared()
  const others = [...run.seeds, ...run.policyFiles]
  const manifests = files.filter(({ path }) => !others.includes(path))
  if (manifests.length === 0 && found.length === 0) run.diagnostics.push(nothingFound(run.seeds))
  const texts = new Map([...manifests, ...run.shared].map((file) => [file.path, file.text]))
  return {
    desired: { documents, ...(run.waves === undefined ? {} : { waves: run.waves }) },
    diagnostics: limited([...found, ...run.diagnostics, ...checkClaims(documents)].sort(bySource).filter(isNew)),
    files: [...texts.keys()].sort(),
    seeds: run.seeds,
    policyFiles: run.policyFiles,
    texts,
    lineOf: lineReader(texts),
  }
}

/**
 * Continues from the line that was requested last. Problems come in order, and starting over for each would take too
 * long in a file of millions of lines.
 */
export const lineReader = (texts: ReadonlyMap<string, string>): LoadedManifests['lineOf'] => {
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

const limited = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.length <= MAX_PROBLEMS ? diagnostics : [...diagnostics.slice(0, MAX_PROBLEMS), TOO_MANY]

/** Shared files and targets of aliases may be read, and their problems found, more than once. */
const isNew = (diagnostic: Diagnostic, index: number, sorted: readonly Diagnostic[]): boolean => {
  const before = sorted[index - 1]
  return before === undefined || bySource(before, diagnostic) !== 0
}

const TOO_MANY = problem(
  'E_TOO_MANY',
  `There are more than ${MAX_PROBLEMS} problems. Only the first ${MAX_PROBLEMS} are shown.`,
  'Fix these, then run the command again.',
)

const nothingFound = (seeds: readonly string[]): Diagnostic =>
  problem(
    'E_NO_MANIFESTS',
    seeds.length === 0
      ? 'No manifest was found in any .yaml or .yml file.'
      : `No manifest was found, only a sandbox seed: ${list(seeds)}.`,
    NO_MANIFESTS_HINT,
  )

class Reading {
  readonly diagnostics: Diagnostic[] = []
  /** Files that were only read because of `extends`. */
  readonly shared: ManifestFile[] = []
  /** Paths of files that are sandbox seeds. */
  readonly seeds: string[] = []
  /** Paths of policy files. */
  readonly policyFiles: string[] = []
  readonly #findFile: FindFile
  waves: readonly DesiredWave[] | undefined
  /** Content of extended files, by path. */
  readonly #extended = new Map<string, Layer>()
  /** Documents without a project that would only take effect if they were extended. */
  readonly #unextended: Tree[] = []
  readonly #tokens = tokenBudget()

  constructor(findFile: FindFile) {
    this.#findFile = findFile
  }

  readFile(file: ManifestFile): readonly DesiredDocument[] {
    const documents: DesiredDocument[] = []
    const trees = this.#trees(file)[Symbol.iterator]()
    let count = 0
    // Read one document at a time, because its nodes take a hundred times the memory of its text.
    for (let next = trees.next(); next.done !== true; ) {
      const tree = next.value
      next = trees.next()
      count += 1
      const isOnly = count === 1 && next.done === true
      const others =
        isOnly && isSeed(tree?.value) ? this.seeds : isOnly && isPolicyFile(tree?.value) ? this.policyFiles : undefined
      if (others !== undefined) {
        others.push(file.path)
        return documents
      }
      if (this.diagnostics.length > MAX_PROBLEMS) return documents
      if (tree === undefined) continue
      const keys = isPlainMap(tree.value) ? Object.keys(tree.value) : []
      if (isShared(keys)) {
        const shared = this.#sharedPart(tree)
        if (shared !== undefined) this.#readWaves(tree, shared.waves)
        if (isDeclaring(keys)) this.#unextended.push(tree)
        continue
      }
      const value = validPart(tree, validators.document, 'A manifest')
      if (value === undefined) continue
      const manifest = value as ManifestValue
      this.#readWaves(tree, manifest.waves)
      documents.push(...this.#readDocument(tree, manifest))
    }
    if (count === 0) {
      this.#report(file, words('E_EMPTY', 'The file contains no document.', 'Add a manifest, or delete the file.'))
    }
    return documents
  }

  /** Documents that are not blank. `undefined` for a document with a YAML error, which is reported. */
  *#trees(file: ManifestFile): Iterable<Tree | undefined> {
    if (file.text.length > MAX_FILE_BYTES) {
      this.#report(file, FILE_TOO_LARGE)
      yield undefined
      return
    }
    const lines = new LineCounter()
    for (const { content, problems } of readContents(file.text, lines, this.#tokens)) {
      for (const one of problems) {
        this.#report(file, yamlWords(one), sourceAt(file.path, file.text, lines, one.start, one.end))
      }
      if (content === undefined) yield undefined
      // A document that contains only comments is left out.
      else if (content.value !== null || problems.length > 0) {
        yield new Tree({ file: file.path, text: file.text, lines, content, diagnostics: this.diagnostics })
      }
    }
  }

  #readDocument(tree: Tree, manifest: ManifestValue): readonly DesiredDocument[] {
    const { extends: shared = [], projects } = manifest
    const below =
      typeof shared === 'string'
        ? [this.#findShared(tree, shared, tree.source(manifest, 'extends'))]
        : shared.map((path, index) => this.#findShared(tree, path, tree.source(shared, index)))
    const layers = [...below, readLayer(tree, manifest, projects !== undefined)]
    // A missing profile may be in the shared file that could not be read.
    const isPartial = below.includes(EMPTY_LAYER)
    return resolveLayer(layers.reduce(overlay, EMPTY_LAYER), projectsOf(tree, manifest), (...words) => {
      if (!isPartial || words[0] !== 'E_PROFILE_UNKNOWN') tree.report(...words)
    })
  }

  #sharedPart(tree: Tree): SharedValue | undefined {
    return validPart(tree, validators.shared, 'A shared file') as SharedValue | undefined
  }

  /** @param source of the path, for error messages. */
  #findShared(tree: Tree, path: string, source: Source): Layer {
    const refuse = (message: string, hint?: string): Layer => {
      tree.report('E_EXTENDS', source, message, hint)
      return EMPTY_LAYER
    }
    const target = posix.normalize(posix.join(posix.dirname(tree.file), path))
    if (posix.isAbsolute(path) || target.startsWith('../')) {
      const hint = posix.isAbsolute(path)
        ? 'Write a path relative to this file.'
        : 'Run Espalier in a folder that also contains the shared file.'
      return refuse('`extends` must name a file inside the current folder.', hint)
    }
    const known = this.#extended.get(target)
    if (known !== undefined) return known
    const file = this.#findFile(target)
    if ('message' in file) return refuse(`The shared file \`${target}\` cannot be used. ${file.message}`, file.hint)
    this.shared.push(file)
    const [first, second] = this.#trees(file)
    if (second !== undefined) {
      refuse('A shared file must have exactly one document.', 'Split it into several files, and extend those.')
    }
    const value = first && this.#sharedPart(first)
    const layer = first === undefined || value === undefined ? EMPTY_LAYER : readLayer(first, value, true)
    if (first !== undefined) this.#readWaves(first, value?.waves)
    this.#extended.set(target, layer)
    return layer
  }

  #readWaves(tree: Tree, value: WavesValue | undefined): void {
    if (value === undefined) return
    const waves = readWaves(tree, value)
    const [own, first] = [waves[0]?.source, this.waves?.[0]?.source]
    // A file that is both an argument and extended is read twice.
    if (own === undefined || (first !== undefined && compareSource(own, first) === 0)) return
    if (first === undefined) this.waves = waves
    else {
      const message = `Waves are also defined${placeWords(first)}.`
      tree.report('E_DUPLICATE', own, message, 'Define all waves in one file, for example a shared file.')
    }
  }

  /** Reports manifests without a `project`, which would otherwise pass for shared files and manage nothing. */
  checkShared(): void {
    for (const tree of this.#unextended) {
      if (this.#extended.has(posix.normalize(tree.file))) continue
      const hint = 'Add `project` with the project id. Only shared files may omit it, and no manifest extends this one.'
      tree.report('E_REQUIRED', tree.source(undefined), 'A manifest requires `project` or `projects`.', hint)
    }
  }

  #report(file: ManifestFile, { code, message, hint }: Words, source: Source = startOfFile(file.path)): void {
    this.diagnostics.push(problem(code, short(message), hint, source))
  }
}

const projectsOf = (tree: Tree, manifest: ManifestValue): readonly Sourced<string>[] => {
  const { projects } = manifest
  const project = tree.sourced(manifest, 'project')
  if (projects === undefined) return project === undefined ? [] : [project]
  return projects.flatMap((value, index) => {
    const source = tree.source(projects, index)
    if (projects.indexOf(value) === index) return [{ value, source }]
    tree.report('E_DUPLICATE', source, `Project \`${value}\` is listed twice.`, 'Keep one of the two.')
    return []
  })
}
