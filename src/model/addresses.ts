/** The GitHub repository, as in package.json and the workflows. */
export const REPOSITORY = 'espalier-dev/espalier'

/**
 * URL and `$id` of a schema. Always the newest version, because manifests outlive the version that they were written
 * for.
 */
export const schemaAddress = (name: string): string =>
  `https://raw.githubusercontent.com/${REPOSITORY}/main/schemas/${name}.schema.json`
