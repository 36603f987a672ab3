/** Finds what is declared twice: branches, pins, previous names of replicas, and prices and tiers of projects. */
import { canonicalJson, groupBy } from '../../base/index.ts'
import {
  compareSource,
  computesDeclaredBy,
  type DesiredDocument,
  type Diagnostic,
  placeWords,
  problem,
  type Source,
  sourceText,
} from '../../model/index.ts'

export const checkClaims = (documents: readonly DesiredDocument[]): readonly Diagnostic[] =>
  [...groupBy(documents, ({ project }) => project)].flatMap(([project, own]) => [
    ...claimConflicts(project, own),
    ...valueConflicts(project, own),
  ])

const claimConflicts = (project: string, documents: readonly DesiredDocument[]): readonly Diagnostic[] => {
  const diagnostics: Diagnostic[] = []
  const claim = (
    known: Map<string, Source>,
    key: string,
    source: Source,
    what: string,
    whatToDo = 'Keep one of the two.',
  ): void => {
    const first = known.get(key)
    if (first === undefined) {
      known.set(key, source)
      return
    }
    const isShared = compareSource(first, source) === 0
    const [message, hint] = isShared
      ? [`${what} because two documents of the project extend this file.`, 'Merge the two documents.']
      : [`${what}: here and${placeWords(first)}.`, whatToDo]
    diagnostics.push(problem('E_DUPLICATE', message, hint, source))
  }
  const branches = new Map<string, Source>()
  const pins = new Map<string, Source>()
  for (const branch of documents.flatMap((document) => document.branches)) {
    const what = `Branch \`${branch.ref}\` of project \`${project}\` is declared twice`
    claim(branches, branch.ref, branch.source, what, 'Move the content of one entry into the other.')
    for (const { id, source, sources } of computesDeclaredBy(branch)) {
      if (id !== undefined) claim(pins, id, sources.id ?? source, `Compute \`${id}\` is pinned twice`)
    }
  }
  for (const { replicas } of documents.flatMap((document) => [...document.branches, ...document.rules])) {
    const previous = new Map<string, Source>()
    for (const { renamedFrom: name, source } of replicas) {
      if (name !== undefined) claim(previous, name, source, `Two replicas have \`renamedFrom: ${name}\``)
    }
  }
  return diagnostics
}

/** The values that a project can have only once. */
const PER_PROJECT = ['price', 'tier'] as const

const valueConflicts = (project: string, documents: readonly DesiredDocument[]): readonly Diagnostic[] =>
  PER_PROJECT.flatMap((key) => {
    const [first, ...others] = documents.filter((document) => document[key] !== undefined)
    const place = first?.sources?.[key]
    if (place === undefined) return []
    return others
      .filter((document) => canonicalJson(document[key]) !== canonicalJson(first?.[key]))
      .map(({ sources }) => {
        const message = `Project \`${project}\` has a different ${key} at ${sourceText(place)}.`
        return problem('E_DUPLICATE', message, 'Keep one of the two.', sources?.[key])
      })
  })
