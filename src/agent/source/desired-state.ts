/** Holds the current declaration of each project, and decides whether the agent may act on it. */
import { EspalierError, hasErrors, type SourceView } from '../../model/index.ts'
import type { Manifests } from '../../workflow/index.ts'
import type { DataFolder, SourceFile } from '../data-folder.ts'
import type { Situation } from '../decide/table.ts'
import { type Declared, declaredBy, declaredOf, earlierWaves, onlyOf } from './declared.ts'
import { errorsOf, type ManifestError } from './manifest-errors.ts'
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
  /** Whether no earlier version that this agent knows of declared the project. */
  readonly isNew: boolean
  /** The projects in earlier waves. */
  waitsFor(): readonly string[]
}

export interface DesiredState {
  /**
   * Reads the manifests from the source. Failures are reported in the view.
   *
   * @returns the projects whose declaration changed.
   */
  refresh(): Promise<readonly string[]>
  projects(): readonly string[]
  of(project: string): Declaration | undefined
  /** Called once the project's record is on disk. From then on, the project is no longer new. */
  recorded(project: string): Promise<void>
  /** Accepts the commit if it is the current version. @returns whether it is. */
  accept(commit: string): Promise<boolean>
  /** In milliseconds since the epoch. 0 if the manifests were never fetched. */
  fetchedAt(): number
  view(): SourceView
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

export const openDesiredState = async (
  source: Source,
  data: Pick<DataFolder, 'readSource' | 'writeSource'>,
  now: () => number,
): Promise<DesiredState> => {
  const from = source.ref === undefined ? source.from : `${source.from}#${source.ref}`
  const stored = await data.readSource()
  // The accepted versions are kept if only the URL changes, because that is no reason to restart databases.
  let file: SourceFile = stored?.from === from ? stored : { ...stored, introduced: [], from, fetchedAt: undefined }
  let current: Current | undefined
  let fetchedAt = file.fetchedAt ?? 0
  let error: string | undefined
  let isMissing = false

  let writing: Promise<void> = Promise.resolve()
  /** Writes are serialized, because several projects may be recorded concurrently. */
  const save = (change: (before: SourceFile) => SourceFile): Promise<void> => {
    const written = writing.then(async () => {
      const next = { ...change(file), fetchedAt }
      await data.writeSource(next)
      file = next
    })
    writing = written.catch(() => undefined)
    return written
  }
  /** A problem that affects all projects. */
  const problemOfAll = (): string | undefined => {
    if (isMissing) return `${source.from} has no ref ${source.ref}.`
    const loaded = current?.version.manifests.loaded
    return loaded?.desired.documents.length === 0 && !hasErrors(loaded.diagnostics)
      ? 'The manifests declare no projects.'
      : undefined
  }
  const problemOf = (project: string): string | undefined => {
    const ofAll = problemOfAll()
    if (ofAll !== undefined || current === undefined) return ofAll
    const found = current.errors.find(({ concerns }) => concerns(project))
    if (found !== undefined) return found.text
    if (declaredOf(current.declared, project) !== undefined || current.isRewritten) return undefined
    return 'The project is no longer declared, but an error in another manifest may hide its declaration.'
  }
  const commandFor = (project: string): string | undefined => {
    if (isMissing || current === undefined) return undefined
    const isGone = problemOfAll() !== undefined || current.errors.find(({ concerns }) => concerns(project))?.isMissing
    if (isGone !== true) return 'espalier validate'
    const files = declaredOf(file.valid?.projects, project)?.files ?? []
    // The command is suggested only if no path needs quotes in a shell.
    return source.kind === 'git' && file.valid !== undefined && files.length > 0 && files.every(isPlainPath)
      ? `git checkout ${file.valid.version.slice(0, 12)} -- ${files.join(' ')} && git commit`
      : undefined
  }
  const isDeclared = (project: string): boolean => {
    const { declared, isRewritten = false } = current ?? {}
    if (declaredOf(declared, project) !== undefined) return true
    // A project that seems to be missing may still be declared in manifests that have errors or were rewritten.
    return (
      (isUnusable() || isRewritten) &&
      [file.valid, file.accepted].some((known) => declaredOf(known?.projects, project) !== undefined)
    )
  }
  const isUnusable = (): boolean => {
    const loaded = current?.version.manifests.loaded
    return problemOfAll() !== undefined || loaded === undefined || hasErrors(loaded.diagnostics)
  }
  const adopt = async (version: Version): Promise<void> => {
    const declared = declaredBy(version.manifests)
    const before = file.accepted
    const continues = before === undefined || (await source.continues(version.id, before.version))
    const byProject = new Map(Object.keys(declared).map((project) => [project, onlyOf(version.manifests, project)]))
    const errors = errorsOf(version.manifests, declared, file.valid?.projects)
    current = { version, declared, byProject, errors, isRewritten: !continues }
    isMissing = false
    const { valid: last } = file
    const added =
      last === undefined ? [] : Object.keys(declared).filter((id) => declaredOf(last.projects, id) === undefined)
    const valid = { version: version.id, projects: declared }
    await save((before) => ({
      ...before,
      ...(isUnusable() ? {} : { valid, ...(continues ? { accepted: valid } : {}) }),
      introduced: [...new Set([...before.introduced.filter((id) => declaredOf(declared, id) !== undefined), ...added])],
    }))
    const known = state.projects()
    current = { ...current, unshown: errors.find(({ concerns }) => !known.some(concerns))?.text }
  }
  /**
   * An error that no project displays. The source cannot be read, a file that belongs to no known project has an error,
   * or no projects are declared.
   */
  const errorOf = (): Pick<SourceView, 'error' | 'errorState'> => {
    if (error !== undefined) return { error, errorState: 'Failing' }
    const unshown = problemOfAll() ?? current?.unshown
    return unshown === undefined ? {} : { error: unshown, errorState: 'Invalid' }
  }
  const state: DesiredState = {
    refresh: async () => {
      const before = digests(state)
      try {
        const version = await source.read()
        fetchedAt = now()
        error = undefined
        isMissing = version === undefined
        if (version !== undefined && version.id !== current?.version.id) await adopt(version)
      } catch (cause) {
        if (!(cause instanceof EspalierError)) throw cause
        error = cause.message
        const last = current === undefined ? await source.lastRead() : undefined
        if (last !== undefined) await adopt(last)
      }
      const after = digests(state)
      return [...new Set([...before.keys(), ...after.keys()])].filter((id) => before.get(id) !== after.get(id))
    },
    projects: () =>
      [
        ...new Set(
          [current?.declared, file.valid?.projects, file.accepted?.projects].flatMap((one) => Object.keys(one ?? {})),
        ),
      ].filter(isDeclared),
    of: (project) => {
      if (!isDeclared(project)) return undefined
      const problem = problemOf(project)
      const command = commandFor(project)
      const manifests = current?.byProject.get(project)
      const { digest = '', files = [] } = declaredOf(current?.declared, project) ?? {}
      const isChanged = current?.isRewritten === true && declaredOf(file.accepted?.projects, project)?.digest !== digest
      return {
        version: current?.version.id ?? '',
        digest,
        files,
        manifests: problem === undefined ? manifests : undefined,
        problem,
        command: problem === undefined ? undefined : command,
        history: isChanged ? 'rewritten' : now() - fetchedAt > STALE_MS ? 'stale' : 'known',
        isNew: file.introduced.includes(project),
        waitsFor: () =>
          current === undefined
            ? []
            : earlierWaves(current.version.manifests.loaded.desired, project, Object.keys(current.declared)),
      }
    },
    recorded: async (project) => {
      if (!file.introduced.includes(project)) return
      await save((before) => ({ ...before, introduced: before.introduced.filter((id) => id !== project) }))
    },
    accept: async (commit) => {
      if (current === undefined || commit.length < 7 || !current.version.id.startsWith(commit)) return false
      const { version, declared } = current
      await save((before) => ({ ...before, accepted: { version: version.id, projects: declared } }))
      current = { ...current, isRewritten: false }
      return true
    },
    fetchedAt: () => fetchedAt,
    view: () => ({
      kind: source.kind,
      from: source.from,
      ref: source.ref,
      version: current?.version.id,
      committedAt: current?.version.committedAt,
      fetchedAt: fetchedAt === 0 ? undefined : new Date(fetchedAt).toISOString(),
      ...errorOf(),
    }),
  }
  return state
}

const isPlainPath = (path: string): boolean => /^[\w.][\w./-]*$/.test(path)

const digests = (state: DesiredState): ReadonlyMap<string, string> =>
  new Map(
    state.projects().map((id) => {
      const { digest = '', problem = '', history } = state.of(id) ?? {}
      return [id, `${digest} ${history} ${problem}`]
    }),
  )
