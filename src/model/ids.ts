/** Ids of the API, and the paths that they are part of. */

/** Of projects, branches and computes, as the service's public OpenAPI has them. */
export const ID = /^[a-z0-9-]{1,60}$/

/**
 * `/projects/…`, each segment encoded. Ids from answers are checked before ({@link ID}); those that a person typed are not,
 * and none may lead to another path.
 */
export const apiPath = (project: string, ...segments: readonly string[]): string =>
  ['/projects', ...[project, ...segments].map(encodeSegment)].join('/')

/** `.` and `..` are left as they are by `encodeURIComponent`, and servers resolve them. */
const encodeSegment = (segment: string): string =>
  /^\.{1,2}$/.test(segment) ? segment.replaceAll('.', '%2E') : encodeURIComponent(segment)
