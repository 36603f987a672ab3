/** Ids of the API, and the paths that they are part of. */
import { EspalierError } from '../base/index.ts'

/** Of projects, branches and computes, as the service's public OpenAPI has them. */
export const ID = /^[a-z0-9-]{1,60}$/

/**
 * `/projects/…`, each segment encoded. Ids from answers are checked before ({@link ID}); those that a person typed are not.
 *
 * @throws {EspalierError} `E_USAGE` for what would lead to another path however it is encoded.
 */
export const apiPath = (project: string, ...segments: readonly string[]): string =>
  ['/projects', ...[project, ...segments].map(encodeSegment)].join('/')

const encodeSegment = (segment: string): string => {
  // `%2E%2E` is `..` to a URL, too.
  if (!/^\.{0,2}$/.test(segment)) return encodeURIComponent(segment)
  throw new EspalierError('E_USAGE', `"${segment}" is not an id.`, {
    hint: 'Ids have 1 to 60 lower-case letters, digits and hyphens.',
  })
}

/** The project's id in such a path. */
export const projectOf = (path: string): string | undefined => {
  const segment = /^\/projects\/([^/?]+)/.exec(path)?.[1]
  return segment === undefined ? undefined : decodeURIComponent(segment)
}
