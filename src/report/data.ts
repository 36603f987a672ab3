/** Diagnostics as JSON and as SARIF 2.1.0 (OASIS), and annotations that GitHub shows on lines of manifests. */
import { encodePath, plainJson, plainText } from '../base/index.ts'
import { type Change, type Diagnostic, type Difference, isDrift, type Plan, type Source } from '../model/index.ts'
import { impactWords, isDisruptive, worstFirst } from './words/impacts.ts'
import { computeOnBranch, messageOf } from './words/names.ts'

/** @param extra additional keys for the document. */
export const jsonDiagnostics = (
  diagnostics: readonly Diagnostic[],
  extra: Readonly<Record<string, unknown>> = {},
): string => {
  const flat = diagnostics.map(({ severity, code, message, hint, source }) => ({
    severity,
    code,
    message,
    hint: hint ?? null,
    file: source?.file ?? null,
    line: source?.line ?? null,
    column: source?.column ?? null,
    length: source?.length ?? null,
  }))
  return `${plainJson({ diagnostics: flat, ...extra }, 2)}\n`
}

export const sarifDiagnostics = (
  diagnostics: readonly Diagnostic[],
  { version }: { readonly version: string },
): string => {
  const codes = [...new Set(diagnostics.map(({ code }) => code))].sort()
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'espalier', version, rules: codes.map((id) => ({ id })) } },
        columnKind: 'utf16CodeUnits',
        results: diagnostics.map((diagnostic) => result(diagnostic, codes)),
      },
    ],
  }
  return `${plainJson(log, 2)}\n`
}

const result = (diagnostic: Diagnostic, codes: readonly string[]) => {
  const { severity, code, source } = diagnostic
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: severity,
    message: { text: messageOf(diagnostic) },
    ...(source === undefined ? {} : { locations: [{ physicalLocation: locationOf(source) }] }),
  }
}

const locationOf = ({ file, line, column, length }: Source) => ({
  artifactLocation: { uri: encodePath(file) },
  region: { startLine: line, startColumn: column, endLine: line, endColumn: column + length },
})

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
      ...placeOf(source),
    }
  })

const placeOf = (source: Source | undefined) =>
  source === undefined ? {} : { file: source.file, line: source.line, column: source.column }

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
      ...placeOf(change.source),
    }),
  )
}

interface DriftDocument {
  /** The git ref given with `--base`. */
  readonly ref: string
  readonly takenAt: string
  readonly plan: Pick<Plan, 'projectNames' | 'leftOut'>
  readonly unsettled: readonly Diagnostic[]
}

/** The JSON document that `drift --format json` prints. */
export const jsonDrift = (differences: readonly Difference[], context: DriftDocument): string => {
  const { ref, takenAt, plan, unsettled } = context
  const flat = differences.map(({ change, attribute, mover, lastOperation }) => ({
    project: change.project,
    projectName: plan.projectNames?.[change.project] ?? null,
    branch: change.branch,
    compute: change.compute,
    kind: change.kind,
    path: attribute?.path ?? null,
    live: attribute?.beforeText ?? null,
    declared: attribute?.afterText ?? null,
    mover,
    lastOperation: lastOperation ?? null,
    source: change.source ?? null,
  }))
  const drifted = differences.filter(isDrift).length
  const { leftOut } = plan
  const rest = { ...(unsettled.length > 0 && { unsettled }), ...(leftOut && { leftOut }) }
  return `${plainJson({ since: ref, takenAt, drifted, differences: flat, ...rest }, 2)}\n`
}
