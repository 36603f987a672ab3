/** Where Espalier is published; package.json and the workflows name the same repository. */
export const REPOSITORY = 'espalier-dev/espalier'

/** Also its `$id`: of the newest version, since a manifest outlives the version that wrote it. */
export const schemaAddress = (name: string): string =>
  `https://raw.githubusercontent.com/${REPOSITORY}/main/schemas/${name}.schema.json`
