/** Finds the projects that a pull request changes, so that a workflow can run one job for each in a matrix. */
import { type Desired, waveOf, withoutPlaces } from '../model/index.ts'
import { projectIds } from '../planner/index.ts'

/**
 * The ids of the projects whose declarations differ between the head and the base.
 *
 * @param base if `undefined`, all projects count as changed.
 */
export const changedProjects = (head: Desired, base: Desired | undefined): readonly string[] =>
  projectIds(head).filter((id) => base === undefined || declaredText(head, id) !== declaredText(base, id))

/** The project's declarations as JSON, without their positions in files. */
const declaredText = ({ documents, waves }: Desired, id: string): string =>
  JSON.stringify(withoutPlaces([documents.filter(({ project }) => project === id), waves?.[waveOf(waves, id)]?.name]))
