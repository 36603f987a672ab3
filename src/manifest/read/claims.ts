/** Conflicts between documents: a branch declared twice, a compute pinned twice. */
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
  const branches = new Map<string, Source>()
  const pins = new Map<string, Source>()
  const claim = (known: Map<string, Source>, key: string, source: Source, code: ManifestCode, what: string): void => {
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
        ? `${what} since two documents of the project extend this file.`
        : `${what} here and at ${first.file}:${first.line}.`,
      hint: isShared ? 'Merge the two documents.' : 'Keep one of the two.',
      source,
    })
  }
  for (const { project, branches: declared } of documents) {
    for (const branch of declared) {
      const text = `Branch \`${branch.ref}\` of project \`${project}\` is declared twice,`
      claim(branches, `${project}\n${branch.ref}`, branch.source, 'E_TWO_CLAIMS', text)
      const { primary, replicas } = branch
      const computes: readonly DesiredCompute[] =
        primary === undefined || isAbsence(primary) ? replicas : [primary, ...replicas]
      for (const { id, source, sources } of computes) {
        if (id !== undefined)
          claim(pins, `${project}\n${id}`, sources.id ?? source, 'E_TWO_PINS', `Compute \`${id}\` is pinned twice,`)
      }
    }
  }
  return diagnostics
}
