/** Differences with who moved, for people and for programs. */
import { type Difference, MOVER_WORDS, MOVERS, plainJson } from '../model/index.ts'
import { plainText, plainValue } from './plain-text.ts'
import { counted, paintOf, type Style, wrap } from './style.ts'
import { computeTitle, place } from './words.ts'

export interface DriftContext {
  /** What the manifests were compared with. */
  readonly ref: string
  readonly takenAt: string
}

export const terminalDrift = (raw: readonly Difference[], { ref, takenAt }: DriftContext, style: Style): string => {
  const differences = plainValue(raw)
  const paint = paintOf(style)
  const sections = MOVERS.flatMap((mover) => {
    const own = differences.filter((difference) => difference.mover === mover)
    if (own.length === 0) return []
    const lines = own.map((difference) => wrap(lineOf(difference), style, '  ', '    '))
    return [[paint.bold(`${MOVER_WORDS[mover]}: ${counted(own.length, 'difference')}`), ...lines].join('\n')]
  })
  const drifted = differences.filter(({ mover }) => mover !== 'manifest').length
  const verdict =
    drifted === 0
      ? `No drift since ${plainText(ref)}.${differences.length === 0 ? '' : ' What differs, the manifests changed: apply brings it about.'}`
      : `Drift since ${plainText(ref)}: ${counted(drifted, 'difference')}.`
  return `${[...sections, `${verdict}  ${paint.dim(`seen at ${takenAt}`)}`].join('\n\n')}\n`
}

const lineOf = ({ change, attribute }: Difference): string => {
  const { compute, branch, kind, source, project } = change
  const id = compute.id === undefined ? '' : ` (${compute.id})`
  const where = `${computeTitle(compute)} on ${branch.name} in ${project}${id}`
  const what =
    attribute === undefined
      ? `to be ${DEEDS[kind]}`
      : `${attribute.path}: live ${attribute.before ?? 'nothing'}, declared ${attribute.after}`
  return `${where}: ${what}${source === undefined ? '' : `  ${place(source)}`}`
}

const DEEDS = { create: 'created', update: 'updated', move: 'moved', replace: 'replaced', delete: 'deleted' } as const

export const jsonDrift = (differences: readonly Difference[], { ref, takenAt }: DriftContext): string => {
  const flat = differences.map(({ change, attribute, mover }) => ({
    project: change.project,
    branch: change.branch,
    compute: change.compute,
    kind: change.kind,
    path: attribute?.path ?? null,
    live: attribute?.before ?? null,
    declared: attribute?.after ?? null,
    mover,
    source: change.source ?? null,
  }))
  const drifted = flat.filter(({ mover }) => mover !== 'manifest').length
  return `${plainJson({ since: ref, takenAt, drifted, differences: flat }, 2)}\n`
}
