import { type Change, IMPACTS } from '../../model/index.ts'

/** The worst first, then by project, as it is called, and branch; of equal ones the plan's order. */
export const worstFirst = (
  changes: readonly Change[],
  titleOf: (project: string) => string = String,
): readonly Change[] =>
  changes.toSorted(
    (a, b) =>
      badness(b) - badness(a) ||
      compare(titleOf(a.project), titleOf(b.project)) ||
      compare(a.branch.name, b.branch.name),
  )

/** Of equal ones, what will not run comes last: nobody will notice it. */
export const badness = ({ impact, refused }: Change): number =>
  IMPACTS.indexOf(impact) - (refused === undefined ? 0 : 0.5)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
