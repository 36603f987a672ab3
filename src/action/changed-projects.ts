/** Which projects a pull request is about: for a matrix with a job for each. */
import { type Desired, waveOf } from '../model/index.ts'
import { projectIds } from '../planner/index.ts'

/** Ids of the projects that the head declares otherwise than the base. @param base `undefined` if it is not known: then all. */
export const changedProjects = (head: Desired, base: Desired | undefined): readonly string[] =>
  projectIds(head).filter((id) => base === undefined || declaredText(head, id) !== declaredText(base, id))

/** Where something is declared makes no difference. */
const declaredText = ({ documents, waves }: Desired, id: string): string =>
  JSON.stringify([documents.filter(({ project }) => project === id), waves?.[waveOf(waves, id)]?.name], (key, value) =>
    key === 'source' || key === 'sources' ? undefined : value,
  )
