/** Texts of unknown length. */
import { open } from 'node:fs/promises'

/** More was to come than is read. */
export class TooLongError extends Error {
  constructor(limitBytes: number) {
    super(`it has more than ${Math.round(limitBytes / 1024 / 1024)} MiB`)
  }
}

/**
 * A whole UTF-8 text, from a stream that may never end.
 *
 * @throws {TooLongError} beyond `limitBytes`.
 */
export const readBounded = async (stream: AsyncIterable<Uint8Array>, limitBytes: number): Promise<string> => {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of stream) {
    bytes += part.length
    if (bytes > limitBytes) throw new TooLongError(limitBytes)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** The same of a file, or of what stands in the place of one (`<(…)`, /dev/stdin). */
export const readBoundedFile = async (path: string, limitBytes: number): Promise<string> => {
  const file = await open(path, 'r')
  try {
    return await readBounded(file.createReadStream({ autoClose: false }), limitBytes)
  } finally {
    await file.close()
  }
}
