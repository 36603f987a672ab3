/** Differences with who moved, for people and for programs. */
import {
  type Change,
  type Difference,
  MOVER_WORDS,
  MOVERS,
  type Mover,
  type Plan,
  plainJson,
} from '../../model/index.ts'
import { computeTitle, counted, place, plainText, plainValue } from '../words/index.ts'
import { paintOf, type Style, wrap } from './style.ts'

export interface DriftContext {
  /** What the manifests were compared with. */
  readonly ref: string
  readonly takenAt: string
  /** Of which the differences are. */
  readonly plan: Pick<Plan, 'projects' | 'leftOut'>
}

export const terminalDrift = (
  raw: readonly Difference[],
  { ref, takenAt, plan }: DriftContext,
  style: Style,
): string => {
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
      ? `No drift since ${plainText(ref)}${of(plan)}.${differences.length === 0 ? '' : ' What differs, the manifests changed: apply brings it about.'}`
      : `Drift since ${plainText(ref)}${of(plan)}: ${counted(drifted, 'difference')}.`
  return `${[...sections, `${verdict}  ${paint.dim(`seen at ${takenAt}`)}`].join('\n\n')}\n`
}

/** Of the projects left out nothing is known. */
const of = ({ projects, leftOut = [] }: DriftContext['plan']): string =>
  leftOut.length === 0 ? '' : ` in ${projects.length} of ${counted(projects.length + leftOut.length, 'project')}`

const lineOf = ({ change, attribute, mover }: Difference): string => {
  const { compute, branch, source, project } = change
  const id = compute.id === undefined ? '' : ` (${compute.id})`
  const where = `${computeTitle(compute)} on ${branch.name} in ${project}${id}`
  const what =
    attribute === undefined
      ? deedWords(change, mover)
      : `${attribute.path}: live ${attribute.beforeText ?? 'nothing'}, declared ${attribute.afterText}`
  return `${where}: ${what}${source === undefined ? '' : `  ${place(source)}`}`
}

const DEEDS = { create: 'created', update: 'updated', move: 'moved', replace: 'replaced', delete: 'deleted' } as const

/** What became of the compute where the live project moved; else what the manifests ask for. */
const deedWords = ({ kind, from }: Change, mover: Mover): string => {
  if (mover === 'live' && kind === 'create') return 'not in the live project: deleted there, or never applied'
  if (mover === 'live' && kind === 'delete') return 'in the live project, and the manifests want it gone'
  if (mover === 'live' && kind === 'move' && from !== undefined) return `lives on ${from.name}`
  return `to be ${DEEDS[kind]}`
}

export const jsonDrift = (differences: readonly Difference[], { ref, takenAt, plan }: DriftContext): string => {
  const flat = differences.map(({ change, attribute, mover }) => ({
    project: change.project,
    branch: change.branch,
    compute: change.compute,
    kind: change.kind,
    path: attribute?.path ?? null,
    live: attribute?.beforeText ?? null,
    declared: attribute?.afterText ?? null,
    mover,
    source: change.source ?? null,
  }))
  const drifted = flat.filter(({ mover }) => mover !== 'manifest').length
  const { leftOut } = plan
  const rest = leftOut === undefined ? {} : { leftOut }
  return `${plainJson({ since: ref, takenAt, drifted, differences: flat, ...rest }, 2)}\n`
}
