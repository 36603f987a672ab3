/** Finds the projects that a pull request changes, for a matrix with one job per project. */
import { type Desired, waveOf } from '../model/index.ts'
import { projectIds } from '../planner/index.ts'

/** Ids of projects whose declarations differ between head and base. @param base if `undefined`, all count as changed. */
export const changedProjects = (head: Desired, base: Desired | undefined): readonly string[] =>
  projectIds(head).filter((id) => base === undefined || declaredText(head, id) !== declaredText(base, id))

/** The declarations as JSON, without positions in files. */
const declaredText = ({ documents, waves }: Desired, id: string): string =>
  JSON.stringify([documents.filter(({ project }) => project === id), waves?.[waveOf(waves, id)]?.name], (key, value) =>
    key === 'source' || key === 'sources' ? undefined : value,
  )
