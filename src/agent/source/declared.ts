/** Groups declarations by project. Has no side effects. */
import { createHash } from 'node:crypto'
import { canonicalJson, groupBy } from '../../base/index.ts'
import { type Desired, waveOf, withoutPlaces } from '../../model/index.ts'
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
          .update(canonicalJson(own.map(withoutPlaces)))
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

/** The manifests of one project, without diagnostics. */
export const onlyOf = (manifests: Manifests, project: string): Manifests => {
  const { loaded } = manifests
  const documents = loaded.desired.documents.filter((document) => document.project === project)
  return { ...manifests, loaded: { ...loaded, diagnostics: [], desired: { documents } } }
}

export const earlierWaves = ({ waves }: Desired, project: string, all: readonly string[]): readonly string[] => {
  if (waves === undefined) return []
  const own = waveOf(waves, project)
  return all.filter((other) => waveOf(waves, other) < own)
}
