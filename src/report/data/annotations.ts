/** Annotations that GitHub shows on lines of manifests. */
import { plainText } from '../../base/index.ts'
import type { Change, Diagnostic } from '../../model/index.ts'
import { impactWords, isDisruptive, worstFirst } from '../words/impacts.ts'
import { computeOnBranch, messageOf } from '../words/names.ts'

export interface Annotation {
  readonly level: 'error' | 'warning'
  readonly title: string
  readonly message: string
  readonly file?: string
  readonly line?: number
  readonly column?: number
}

export const diagnosticAnnotations = (diagnostics: readonly Diagnostic[]): readonly Annotation[] =>
  diagnostics.map((diagnostic) => {
    const { severity, code, source } = diagnostic
    return {
      level: severity,
      title: code,
      message: plainText(messageOf(diagnostic)),
      ...(source === undefined ? {} : { file: source.file, line: source.line, column: source.column }),
    }
  })

/**
 * Annotations for disruptive and refused changes, with the worst first.
 *
 * @param drift the changes that are marked as existing drift.
 */
export const changeAnnotations = (
  changes: readonly Change[],
  drift: readonly Pick<Change, 'id'>[] = [],
): readonly Annotation[] => {
  const drifted = new Set(drift.map(({ id }) => id))
  return worstFirst(changes.filter(({ impact, refused }) => isDisruptive(impact) || refused !== undefined)).map(
    (change) => ({
      level: 'warning',
      title: plainText(computeOnBranch(change)),
      message: plainText(
        `${drifted.has(change.id) ? 'existing drift: ' : ''}${impactWords(change)}${change.refused === undefined ? '' : `; refused: ${change.refused}`}`,
      ),
      ...(change.source === undefined
        ? {}
        : { file: change.source.file, line: change.source.line, column: change.source.column }),
    }),
  )
}
