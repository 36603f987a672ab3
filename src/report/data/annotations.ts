/** Annotations that GitHub shows on lines of manifests. */
import { plainText } from '../../base/index.ts'
import { type Change, computeTitle, type Diagnostic, IMPACTS } from '../../model/index.ts'
import { impactWords } from '../words/impacts.ts'

export interface Annotation {
  readonly level: 'error' | 'warning'
  readonly title: string
  readonly message: string
  readonly file?: string
  readonly line?: number
  readonly column?: number
}

export const diagnosticAnnotations = (diagnostics: readonly Diagnostic[]): readonly Annotation[] =>
  diagnostics.map(({ severity, code, message, hint, source }) => ({
    level: severity,
    title: code,
    message: plainText(hint === undefined ? message : `${message} ${hint}`),
    ...(source === undefined ? {} : { file: source.file, line: source.line, column: source.column }),
  }))

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
  return changes
    .filter(({ impact, refused }) => impact !== 'none' || refused !== undefined)
    .toSorted((a, b) => IMPACTS.indexOf(b.impact) - IMPACTS.indexOf(a.impact))
    .map((change) => ({
      level: 'warning',
      title: plainText(`${computeTitle(change.compute)} on ${change.branch.name}`),
      message: plainText(
        `${drifted.has(change.id) ? 'existing drift: ' : ''}${impactWords(change)}${change.refused === undefined ? '' : `; refused: ${change.refused}`}`,
      ),
      ...(change.source === undefined
        ? {}
        : { file: change.source.file, line: change.source.line, column: change.source.column }),
    }))
}
