/** Finds out which project each declaration, and each error in a manifest, belongs to. Has no side effects. */
import { createHash } from 'node:crypto'
import { canonicalJson, groupBy } from '../../base/index.ts'
import { type Desired, type Diagnostic, sourceText, waveOf, withoutPlaces } from '../../model/index.ts'
import type { Manifests } from '../../workflow/index.ts'
import type { SourceFile } from '../data-folder.ts'

export type Declared = NonNullable<SourceFile['valid']>['projects']

/** The declaration of a project. Checks `Object.hasOwn`, because a project may be called `constructor`. */
export const declaredOf = (declared: Declared | undefined, project: string): Declared[string] | undefined =>
  declared !== undefined && Object.hasOwn(declared, project) ? declared[project] : undefined

export const declaredBy = ({ loaded, review }: Manifests): Declared => {
  const { documents, waves } = loaded.desired
  const shared = canonicalJson(withoutPlaces([review?.policies?.policies, waves]))
  return Object.fromEntries(
    [...groupBy(documents, ({ project }) => project)].map(([project, own]) => [
      project,
      {
        digest: createHash('sha256')
          .update(shared)
          .update(canonicalJson(withoutPlaces(own)))
          .digest('hex'),
        files: [...new Set(own.map(({ source }) => source.file))].sort(),
      },
    ]),
  )
}

/** The files that configure projects, which are the manifests and the files that they extend. */
export const filesBehind = ({ loaded }: Manifests): readonly string[] => {
  const files = new Set<string>()
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if ('file' in value && 'line' in value && typeof value.file === 'string') files.add(value.file)
    else for (const one of Object.values(value)) walk(one)
  }
  walk(loaded.desired.documents)
  return [...files].sort()
}

/** The manifests of one project, without diagnostics. They do not keep the texts of all files in memory. */
export const onlyOf = (manifests: Manifests, project: string): Manifests => {
  const { loaded } = manifests
  const documents = loaded.desired.documents.filter((document) => document.project === project)
  return {
    ...manifests,
    loaded: { ...loaded, diagnostics: [], texts: new Map(), lineOf: () => undefined, desired: { documents } },
  }
}

export const earlierWaves = ({ waves }: Desired, project: string, all: readonly string[]): readonly string[] => {
  if (waves === undefined) return []
  const own = waveOf(waves, project)
  return all.filter((other) => waveOf(waves, other) < own)
}

export interface ManifestError {
  /** `file:line:column: message` */
  readonly text: string
  /** Whether the error is that files are missing, in which case validating the existing files does not help. */
  readonly isMissing: boolean
  concerns(project: string): boolean
}

/** @param before the declarations in the last version without errors. */
export const errorsOf = (
  { loaded, review }: Manifests,
  declared: Declared,
  before: Declared | undefined,
): readonly ManifestError[] => {
  const declaredIn = projectsByFile(declared, before)
  const isChanged = (project: string): boolean =>
    declaredOf(before, project)?.digest !== declaredOf(declared, project)?.digest
  return loaded.diagnostics
    .filter(({ severity }) => severity === 'error')
    .map((error) => {
      const file = error.source?.file
      const mentioned =
        file === undefined || error === review?.policies?.mistake ? undefined : wordsIn(loaded.texts.get(file))
      const known = declaredIn.get(file ?? '')
      return {
        text: textOf(error),
        isMissing: error.code === 'E_NO_MANIFESTS' || error.code === 'E_NOT_FOUND',
        concerns: (project) => {
          // An error in a policy, or in a file that cannot be read, may affect any project.
          if (mentioned === undefined) return true
          if (known?.has(project) === true || mentioned.has(project)) return true
          // A file that declared no project before may now contain a declaration that is missing elsewhere.
          return known === undefined && isChanged(project)
        },
      }
    })
}

const projectsByFile = (...all: readonly (Declared | undefined)[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const byFile = new Map<string, Set<string>>()
  for (const [project, { files }] of all.flatMap((one) => Object.entries(one ?? {}))) {
    for (const file of files) byFile.set(file, (byFile.get(file) ?? new Set()).add(project))
  }
  return byFile
}

/** All words in the text that could be project ids, or `undefined` if there is no text. */
const wordsIn = (text: string | undefined): ReadonlySet<string> | undefined =>
  text === undefined ? undefined : new Set(text.match(/[a-z0-9-]+/g))

const textOf = ({ message, source }: Diagnostic): string =>
  source === undefined ? message : `${sourceText(source)}: ${message}`
