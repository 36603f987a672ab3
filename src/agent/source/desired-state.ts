/** Holds the current declaration of each project, and decides whether the agent may act on it. */

import { EspalierError, groupBy } from '../../base/index.ts'
import { hasErrors, type SourceView } from '../../model/index.ts'
import type { Manifests } from '../../workflow/index.ts'
import { type DataFolder, type SourceFile, Stored } from '../data-folder.ts'
import type { Situation } from '../decide/table.ts'
import type { KeyOfProject } from './accounts.ts'
import {
  type Declared,
  declaredBy,
  declaredOf,
  earlierWaves,
  errorsOf,
  filesBehind,
  type ManifestError,
  onlyOf,
} from './declared.ts'
import type { Source, Version } from './source.ts'

/** The agent does not act on manifests that were fetched longer ago than this. */
const STALE_MS = 6 * 60 * 60_000

export interface Declaration {
  readonly version: string
  /** A digest of the project's declaration, which does not depend on its file and its position in the file. */
  readonly digest: string
  readonly files: readonly string[]
  /** The manifests of this project, without errors. `undefined` if they cannot be used. */
  readonly manifests: Manifests | undefined
  /** Why the manifests cannot be used. */
  readonly problem: string | undefined
  /** A command that fixes the problem. */
  readonly command: string | undefined
  readonly history: Situation['history']
  /** What an earlier version declared, before the declaration changed last. Absent if that is not known. */
  readonly replaced?: Manifests | undefined
  /** The projects in earlier waves. */
  waitsFor(): readonly string[]
}

const UNDECLARED: Declaration = {
  version: '',
  digest: '',
  files: [],
  manifests: undefined,
  problem: undefined,
  command: undefined,
  history: 'known',
  waitsFor: () => [],
}

/** What a project is planned from. */
export interface Basis {
  readonly declaration: Declaration
  readonly manifests: Manifests
}

interface Current {
  readonly version: Version
  readonly declared: Declared
  readonly byProject: ReadonlyMap<string, Manifests>
  readonly errors: readonly ManifestError[]
  readonly isRewritten: boolean
  /** The first error that does not belong to any known project. */
  readonly unshown?: string | undefined
}

type Replaced = ReadonlyMap<string, { readonly version: string; readonly manifests: Manifests }>

type SourceStore = Pick<DataFolder, 'readSource' | 'writeSource'>

export class DesiredState {
  readonly #source: Source
  readonly #now: () => number
  readonly #stored: Stored<SourceFile>
  #current: Current | undefined
  /** By project, what is stored in {@link SourceFile.replaced}. */
  #replaced: Replaced = new Map()
  #fetchedAt: number
  #error: string | undefined
  #isMissing = false
  /** The last version without errors. */
  #valid: { readonly id: string; readonly version: Promise<Version | undefined> } | undefined

  static async open(source: Source, data: SourceStore, now: () => number): Promise<DesiredState> {
    const from = source.ref === undefined ? source.from : `${source.from}#${source.ref}`
    const stored = await data.readSource()
    // The accepted versions are kept if only the URL changes, because that is no reason to restart databases.
    const file = stored?.from === from ? stored : { ...stored, from, replaced: {}, fetchedAt: undefined }
    return new DesiredState(source, data, now, file)
  }

  private constructor(source: Source, data: SourceStore, now: () => number, file: SourceFile) {
    this.#source = source
    this.#now = now
    this.#stored = new Stored(file, (value) => data.writeSource(value))
    this.#fetchedAt = file.fetchedAt ?? 0
  }

  get #file(): SourceFile {
    return this.#stored.value
  }

  /**
   * Reads the manifests from the source. Failures are reported in the view.
   *
   * @returns the projects whose declaration changed.
   */
  async refresh(): Promise<readonly string[]> {
    const before = this.#digests()
    try {
      const version = await this.#source.read()
      this.#fetchedAt = this.#now()
      this.#error = undefined
      this.#isMissing = version === undefined
      if (version !== undefined && version.id !== this.#current?.version.id) await this.#adopt(version)
    } catch (cause) {
      if (!(cause instanceof EspalierError)) throw cause
      this.#error = cause.message
      const last = this.#current === undefined ? await this.#source.lastRead() : undefined
      if (last !== undefined) await this.#adopt(last)
    }
    const after = this.#digests()
    return [...new Set([...before.keys(), ...after.keys()])].filter((id) => before.get(id) !== after.get(id))
  }

  projects(): readonly string[] {
    const known = [this.#current?.declared, this.#file.valid?.projects, this.#file.accepted?.projects]
    return [...new Set(known.flatMap((one) => Object.keys(one ?? {})))].filter((id) => this.#isDeclared(id))
  }

  of(project: string): Declaration | undefined {
    if (!this.#isDeclared(project)) return undefined
    const current = this.#current
    const problem = this.#problemOf(project)
    const { digest = '', files = [] } = declaredOf(current?.declared, project) ?? {}
    const isChanged =
      current?.isRewritten === true && declaredOf(this.#file.accepted?.projects, project)?.digest !== digest
    return {
      version: current?.version.id ?? '',
      digest,
      files,
      manifests: problem === undefined ? current?.byProject.get(project) : undefined,
      problem,
      command: problem === undefined ? undefined : this.#commandFor(project),
      history: isChanged ? 'rewritten' : this.#now() - this.#fetchedAt > STALE_MS ? 'stale' : 'known',
      replaced: this.#replaced.get(project)?.manifests,
      waitsFor: () =>
        current === undefined
          ? []
          : earlierWaves(current.version.manifests.loaded.desired, project, Object.keys(current.declared)),
    }
  }

  /** What an earlier version declared. Returns `undefined` if that version is no longer available. */
  async earlier(project: string, version: string): Promise<Basis | undefined> {
    const read = version === this.#current?.version.id ? undefined : await this.#source.earlier(version)
    const declaration = { ...(this.of(project) ?? UNDECLARED), version }
    return read && { declaration, manifests: onlyOf(read.manifests, project) }
  }

  /** What the last version without errors declared, if it is still available and the key's files declare it. */
  async lastValid(project: string, key: KeyOfProject): Promise<Basis | undefined> {
    const declaration = this.of(project)
    const { valid } = this.#file
    const known = declaredOf(valid?.projects, project)
    if (declaration === undefined || valid === undefined || known === undefined) return undefined
    if (this.#valid?.id !== valid.version)
      this.#valid = { id: valid.version, version: this.#source.earlier(valid.version) }
    const version = await this.#valid.version
    const manifests = version && onlyOf(version.manifests, project)
    if (manifests === undefined || key.foreignFile(() => filesBehind(manifests)) !== undefined) return undefined
    return { declaration: { ...declaration, digest: known.digest }, manifests }
  }

  /** Called if the project still declares everything that the earlier version declared. */
  async keptAll(project: string): Promise<void> {
    this.#replaced = new Map([...this.#replaced].filter(([id]) => id !== project))
    await this.#save(({ replaced, ...file }) => ({
      ...file,
      replaced: Object.fromEntries(Object.entries(replaced).filter(([id]) => id !== project)),
    }))
  }

  /** @throws {EspalierError} `E_USAGE` if the commit is not the current version. */
  async accept(commit: string): Promise<void> {
    const current = this.#current
    if (current === undefined)
      throw new EspalierError(
        'E_USAGE',
        `${commit} cannot be accepted, because the agent has not read any manifests yet.`,
        {
          hint: 'Run `espalier agent status` to see whether the manifests can be read, then try again.',
        },
      )
    const { version, declared } = current
    if (commit.length < 7 || !version.id.startsWith(commit))
      throw new EspalierError('E_USAGE', `${commit} is not the current commit, or has fewer than 7 characters.`, {
        hint: `The current commit is ${version.id}. Review it, then accept it.`,
      })
    await this.#save((file) => ({ ...file, accepted: { version: version.id, projects: declared } }))
    this.#current = { ...current, isRewritten: false }
  }

  /** In milliseconds since the epoch. 0 if the manifests were never fetched. */
  fetchedAt(): number {
    return this.#fetchedAt
  }

  view(): SourceView {
    const { kind, from, ref } = this.#source
    return {
      kind,
      from,
      ref,
      version: this.#current?.version.id,
      committedAt: this.#current?.version.committedAt,
      author: this.#current?.version.author,
      subject: this.#current?.version.subject,
      fetchedAt: this.#fetchedAt === 0 ? undefined : new Date(this.#fetchedAt).toISOString(),
      ...this.#unshownError(),
    }
  }

  async #adopt(version: Version): Promise<void> {
    const declared = declaredBy(version.manifests)
    const { accepted, valid: last } = this.#file
    const continues = accepted === undefined || (await this.#source.continues(version.id, accepted.version))
    const byProject = new Map(Object.keys(declared).map((project) => [project, onlyOf(version.manifests, project)]))
    const errors = errorsOf(version.manifests, declared, last?.projects)
    const replaced = replacedVersions(declared, this.#file)
    this.#replaced = await this.#readReplaced(replaced)
    const adopted: Current = { version, declared, byProject, errors, isRewritten: !continues }
    this.#current = adopted
    this.#isMissing = false
    const valid = { version: version.id, projects: declared }
    await this.#save((file) => ({
      ...file,
      replaced,
      ...(this.#isUnusable() ? {} : { valid, ...(continues ? { accepted: valid } : {}) }),
    }))
    if (!this.#isUnusable()) this.#valid = { id: version.id, version: Promise.resolve(version) }
    const known = this.projects()
    this.#current = { ...adopted, unshown: errors.find(({ concerns }) => !known.some(concerns))?.text }
  }

  /** Only the declarations of these projects are kept, because the versions may be many. */
  async #readReplaced(replaced: SourceFile['replaced']): Promise<Replaced> {
    const known = this.#current?.version
    const found = new Map<string, { readonly version: string; readonly manifests: Manifests }>()
    for (const [id, own] of groupBy(Object.entries(replaced), ([, version]) => version)) {
      const kept = own.map(([project]) => [project, this.#replaced.get(project)] as const)
      const isRead = kept.every(([, one]) => one?.version === id)
      const read = isRead ? undefined : known?.id === id ? known : await this.#source.earlier(id)
      for (const [project, one] of kept) {
        if (one?.version === id) found.set(project, one)
        else if (read !== undefined) found.set(project, { version: id, manifests: onlyOf(read.manifests, project) })
      }
    }
    return found
  }

  /** A problem that affects all projects. */
  #problemOfAll(): string | undefined {
    const { from, ref } = this.#source
    if (this.#isMissing) return `${from} has no ref ${ref}.`
    const loaded = this.#current?.version.manifests.loaded
    return loaded?.desired.documents.length === 0 && !hasErrors(loaded.diagnostics)
      ? 'The manifests declare no projects.'
      : undefined
  }

  #problemOf(project: string): string | undefined {
    const current = this.#current
    const ofAll = this.#problemOfAll()
    if (ofAll !== undefined || current === undefined) return ofAll
    const found = current.errors.find(({ concerns }) => concerns(project))
    if (found !== undefined) return found.text
    if (declaredOf(current.declared, project) !== undefined || current.isRewritten) return undefined
    return 'The project is no longer declared, but an error in another manifest may hide its declaration.'
  }

  #commandFor(project: string): string | undefined {
    const current = this.#current
    if (this.#isMissing || current === undefined) return undefined
    const isGone =
      this.#problemOfAll() !== undefined || current.errors.find(({ concerns }) => concerns(project))?.isMissing
    if (isGone !== true) return 'espalier validate'
    const { valid } = this.#file
    const files = declaredOf(valid?.projects, project)?.files ?? []
    // The command is suggested only if no path needs quotes in a shell.
    return this.#source.kind === 'git' && valid !== undefined && files.length > 0 && files.every(isPlainPath)
      ? `git checkout ${valid.version.slice(0, 12)} -- ${files.join(' ')} && git commit`
      : undefined
  }

  #isDeclared(project: string): boolean {
    const { declared, isRewritten = false } = this.#current ?? {}
    if (declaredOf(declared, project) !== undefined) return true
    // A project that seems to be missing may still be declared in manifests that have errors or were rewritten.
    return (
      (this.#isUnusable() || isRewritten) &&
      [this.#file.valid, this.#file.accepted].some((known) => declaredOf(known?.projects, project) !== undefined)
    )
  }

  #isUnusable(): boolean {
    const loaded = this.#current?.version.manifests.loaded
    return this.#problemOfAll() !== undefined || loaded === undefined || hasErrors(loaded.diagnostics)
  }

  /**
   * An error that no project displays. The source cannot be read, a file that belongs to no known project has an error,
   * or no projects are declared.
   */
  #unshownError(): Pick<SourceView, 'error' | 'errorState'> {
    if (this.#error !== undefined) return { error: this.#error, errorState: 'Failing' }
    const unshown = this.#problemOfAll() ?? this.#current?.unshown
    return unshown === undefined ? {} : { error: unshown, errorState: 'Invalid' }
  }

  #digests(): ReadonlyMap<string, string> {
    return new Map(
      this.projects().map((id) => {
        const { digest = '', problem = '', history } = this.of(id) ?? {}
        return [id, `${digest} ${history} ${problem}`]
      }),
    )
  }

  #save(change: (file: SourceFile) => SourceFile): Promise<void> {
    return this.#stored.save((file) => ({ ...change(file), fetchedAt: this.#fetchedAt }))
  }
}

const replacedVersions = (declared: Declared, { valid, replaced }: SourceFile): SourceFile['replaced'] =>
  Object.fromEntries(
    Object.entries(declared).flatMap(([id, { digest }]) => {
      const before = declaredOf(valid?.projects, id)
      const isChanged = before !== undefined && before.digest !== digest
      const version = isChanged ? valid?.version : Object.hasOwn(replaced, id) ? replaced[id] : undefined
      return version === undefined ? [] : [[id, version]]
    }),
  )

const isPlainPath = (path: string): boolean => /^[\w.][\w./-]*$/.test(path)
