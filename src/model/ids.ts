/** Ids and paths of the API. */
import { EspalierError } from '../base/index.ts'

/** Ids of projects, branches and computes (the service's public OpenAPI). */
export const ID = /^[a-z0-9-]{1,60}$/

/** Whether a reference to a branch is an id. A branch whose name looks like one is referred to by its id. */
export const isBranchId = (ref: string): boolean => ref.startsWith('br-')

/**
 * `/projects/…` with encoded segments. Ids from responses were already checked ({@link ID}); those from users were not.
 *
 * @throws {EspalierError} `E_USAGE` for a segment that would change the path even if encoded.
 */
export const apiPath = (project: string, ...segments: readonly string[]): string =>
  ['/projects', ...[project, ...segments].map(encodeSegment)].join('/')

const encodeSegment = (segment: string): string => {
  // URLs treat `%2E%2E` as `..`.
  if (!/^\.{0,2}$/.test(segment)) return encodeURIComponent(segment)
  throw new EspalierError('E_USAGE', `"${segment}" is not an id.`, {
    hint: 'Ids have 1 to 60 lower-case letters, digits and hyphens.',
  })
}

/** The project id in a path from {@link apiPath}. */
export const projectOf = (path: string): string | undefined => {
  const segment = /^\/projects\/([^/?]+)/.exec(path)?.[1]
  return segment === undefined ? undefined : decodeURIComponent(segment)
}
