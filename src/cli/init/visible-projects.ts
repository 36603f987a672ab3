/** The projects that a key can see. */
import { ApiError, type Project, type ReadApi } from '../../api/index.ts'
import { EspalierError } from '../../model/index.ts'

/** A key of one project may not list; a personal key may have to name an organization. */
const REFUSED = new Set([400, 403, 404])

/** @throws {EspalierError} `E_PROJECT_UNKNOWN` if there is none, `E_USAGE` if the key may not list them. */
export const visibleProjects = async (api: ReadApi): Promise<readonly Project[]> => {
  const projects = await api.listProjects().catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status === undefined || !REFUSED.has(error.status)) throw error
    if (error.code === 'E_BASE_URL') throw error
    throw new EspalierError('E_USAGE', `This key cannot list projects. ${error.message}`, {
      hint: 'Name one: --project ID.',
      cause: error,
    })
  })
  if (projects.length > 0) return projects.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  throw new EspalierError('E_PROJECT_UNKNOWN', 'The key sees no project.', { hint: 'Create one, or use another key.' })
}
