/** Creates ids in the format of the service, such as `ep-word-word-xxxxxxxx` and `br-word-word-xxxxxxxx`. */
import { randomBytes, randomUUID } from 'node:crypto'

const FIRST =
  'aged bold calm cold dawn fair gold hidden icy late lucky mild old plain proud quiet raspy shy still warm'.split(' ')
const SECOND =
  'base bird bread brook cell dew fire fog frog hall king lake leaf math moon night pine rain sea sun'.split(' ')

const pick = (words: readonly string[], byte: number): string => words[byte % words.length] ?? 'plain'

/** Always returns the same id for the same bytes. @param bytes at least six bytes. */
export const idOf = (prefix: 'ep' | 'br', bytes: Uint8Array): string => {
  const [first = 0, second = 0, ...rest] = bytes
  const tail = Buffer.from(rest).toString('hex').slice(0, 7)
  return `${prefix}-${pick(FIRST, first)}-${pick(SECOND, second)}-a${tail}`
}

/** @param random returns a number in [0, 1). Default: the system's random bytes. */
export const newId = (prefix: 'ep' | 'br', isTaken: (id: string) => boolean, random?: () => number): string => {
  for (;;) {
    const bytes = random === undefined ? randomBytes(6) : Uint8Array.from({ length: 6 }, () => random() * 256)
    const id = idOf(prefix, bytes)
    if (!isTaken(id)) return id
  }
}

/** A random UUID. @param random as for {@link newId}. */
export const newUuid = (random?: () => number): string => {
  if (random === undefined) return randomUUID()
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('')
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-a$4-$5')
}

/** An id for a project in the format of the service: `word-word-12345678`. */
export const newProjectId = (isTaken: (id: string) => boolean): string => {
  for (;;) {
    const [first = 0, second = 0, ...rest] = randomBytes(6)
    const digits = String(Buffer.from(rest).readUInt32BE() % 100_000_000).padStart(8, '0')
    const id = `${pick(FIRST, first)}-${pick(SECOND, second)}-${digits}`
    if (!isTaken(id)) return id
  }
}
