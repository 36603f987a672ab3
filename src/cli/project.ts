/** Finds the project for commands that work on one. */
import type { ReadApi } from '../api/index.ts'
import { EspalierError, hasErrors } from '../model/index.ts'
import { projectIds } from '../planner/index.ts'
import { readManifests } from '../workflow/index.ts'
import { usageError } from './flags.ts'
import type { Io } from './io.ts'
import { projectIdOf } from './live-projects.ts'

/**
 * The project given by id or name, else the only one in the manifests of the current folder.
 *
 * @returns a function that finds its id, so that usage errors are reported before any request.
 * @throws {EspalierError} `E_USAGE` if the manifests declare no project, or several.
 */
export const oneProject = async (
  named: string | undefined,
  { cwd }: Io,
): Promise<(api: ReadApi) => Promise<string>> => {
  if (named !== undefined) return (api) => projectIdOf(api, named)
  const { loaded } = await readManifests([], { cwd }).catch((error: unknown) => {
    if (error instanceof EspalierError && error.code === 'E_NO_MANIFESTS') throw usageError('Which project?', HINT)
    throw error
  })
  const ids = hasErrors(loaded.diagnostics) ? [] : projectIds(loaded.desired)
  const [only] = ids
  if (only !== undefined && ids.length === 1) return async () => only
  throw usageError(
    ids.length === 0 ? 'Which project?' : `Which of the ${ids.length} projects of the manifests?`,
    `${HINT}${ids.length === 0 ? '' : ` They declare ${ids.slice(0, MOST_LISTED).join(', ')}${ids.length > MOST_LISTED ? ', …' : ''}.`}`,
  )
}

const MOST_LISTED = 10
const HINT = 'Name it with --project ID or NAME.'
