/** The JSON document that `drift --format json` prints. */
import { type Difference, type Plan, plainJson } from '../../model/index.ts'

interface DriftDocument {
  /** The git ref given with `--base`. */
  readonly ref: string
  readonly takenAt: string
  readonly plan: Pick<Plan, 'projectNames' | 'leftOut'>
}

export const jsonDrift = (differences: readonly Difference[], { ref, takenAt, plan }: DriftDocument): string => {
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
  const drifted = flat.filter(({ mover }) => mover !== 'manifest').length
  const { leftOut } = plan
  const rest = leftOut === undefined ? {} : { leftOut }
  return `${plainJson({ since: ref, takenAt, drifted, differences: flat, ...rest }, 2)}\n`
}
