import { type Change, IMPACTS } from '../../model/index.ts'

/** The worst first, then by project title and branch, else in the plan's order. */
export const worstFirst = (
  changes: readonly Change[],
  titleOf: (project: string) => string = String,
): readonly Change[] =>
  changes.toSorted(
    (a, b) =>
      severity(b) - severity(a) ||
      compare(titleOf(a.project), titleOf(b.project)) ||
      compare(a.branch.name, b.branch.name),
  )

/** Within an impact, refused changes come last, since they will not run. */
export const severity = ({ impact, refused }: Change): number =>
  IMPACTS.indexOf(impact) - (refused === undefined ? 0 : 0.5)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
