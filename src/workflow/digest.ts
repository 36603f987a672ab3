import { createHash } from 'node:crypto'

/** Of all files of a set, by path: the order in which they were read does not count. */
export const digestOf = (texts: ReadonlyMap<string, string>): string => {
  const hash = createHash('sha256')
  for (const path of [...texts.keys()].sort()) {
    const text = texts.get(path) ?? ''
    hash.update(`${path}\0${text.length}\0${text}\0`)
  }
  return hash.digest('hex')
}
