/** The project that a command is about, if it is about one. */
import { EspalierError, hasErrors } from '../model/index.ts'
import { projectIds } from '../planner/index.ts'
import { readManifests } from '../workflow/index.ts'
import { usageError } from './flags.ts'
import type { Io } from './io.ts'

/**
 * The one that was named, else the only one of the manifests that are here.
 *
 * @throws {EspalierError} `E_USAGE` if that is none or several.
 */
export const oneProject = async (named: string | undefined, { cwd }: Io): Promise<string> => {
  if (named !== undefined) return named
  const { loaded } = await readManifests([], { cwd }).catch((error: unknown) => {
    if (error instanceof EspalierError && error.code === 'E_NO_MANIFESTS') throw usageError('Which project?', HINT)
    throw error
  })
  const ids = hasErrors(loaded.diagnostics) ? [] : projectIds(loaded.desired)
  const [only] = ids
  if (only !== undefined && ids.length === 1) return only
  throw usageError(ids.length === 0 ? 'Which project?' : `Which of the ${ids.length} projects of the manifests?`, HINT)
}

const HINT = 'Name it with --project.'
