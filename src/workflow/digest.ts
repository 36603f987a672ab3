import { createHash } from 'node:crypto'

/** Digest of a set of files, independent of the order in which they were read. */
export const digestOf = (texts: ReadonlyMap<string, string>): string => {
  const hash = createHash('sha256')
  for (const path of [...texts.keys()].sort()) {
    const text = texts.get(path) ?? ''
    hash.update(`${path}\0${text.length}\0${text}\0`)
  }
  return hash.digest('hex')
}
