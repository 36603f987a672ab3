/** Conflicts between documents: a branch declared twice, a compute pinned twice. */
import { groupBy } from '../../base/index.ts'
import {
  type DesiredCompute,
  type DesiredDocument,
  type Diagnostic,
  isAbsence,
  type ManifestCode,
  type Source,
} from '../../model/index.ts'

export const checkClaims = (documents: readonly DesiredDocument[]): readonly Diagnostic[] => {
  const diagnostics: Diagnostic[] = []
  const claim = (
    known: Map<string, Source>,
    key: string,
    source: Source,
    code: ManifestCode,
    what: () => string,
  ): void => {
    const first = known.get(key)
    if (first === undefined) {
      known.set(key, source)
      return
    }
    const isShared = first.file === source.file && first.line === source.line
    diagnostics.push({
      severity: 'error',
      code,
      message: isShared
        ? `${what()} since two documents of the project extend this file.`
        : `${what()} here and at ${first.file}:${first.line}.`,
      hint: isShared ? 'Merge the two documents.' : 'Keep one of the two.',
      source,
    })
  }
  for (const [project, own] of groupBy(documents, (document) => document.project)) {
    const known = new Map<string, Source>()
    const pins = new Map<string, Source>()
    for (const { ref, source: place, primary, replicas } of own.flatMap(({ branches }) => branches)) {
      const branch = () => `Branch \`${ref}\` of project \`${project}\` is declared twice,`
      claim(known, ref, place, 'E_TWO_CLAIMS', branch)
      const computes: readonly DesiredCompute[] =
        primary === undefined || isAbsence(primary) ? replicas : [primary, ...replicas]
      for (const { id, source, sources } of computes) {
        if (id === undefined) continue
        claim(pins, id, sources.id ?? source, 'E_TWO_PINS', () => `Compute \`${id}\` is pinned twice,`)
      }
    }
  }
  return diagnostics
}
