/** Finds the errors in the manifests, and the projects that each error may affect. Has no side effects. */
import type { Diagnostic } from '../../model/index.ts'
import type { Manifests } from '../../workflow/index.ts'
import { type Declared, declaredOf } from './declared.ts'

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
  source === undefined ? message : `${source.file}:${source.line}:${source.column}: ${message}`
