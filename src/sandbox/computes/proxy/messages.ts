/** What a server says, read on its way to the client (PostgreSQL documentation, 53.7 and 53.8). */
import { Transform, type TransformCallback } from 'node:stream'

export const HEADER_BYTES = 5
const ERROR_RESPONSE = 'E'.charCodeAt(0)
const BACKEND_KEY_DATA = 'K'.charCodeAt(0)
/** Errors and keys are short; what claims to be longer passes unread. */
const MAX_HELD_BYTES = 65_536

export interface ErrorFields {
  readonly code: string
  readonly message: string
}

export const errorResponse = ({ code, message }: ErrorFields, severity = 'FATAL'): Buffer => {
  const text = `S${severity}\0V${severity}\0C${code}\0M${message.replaceAll('\0', '')}\0\0`
  return frame(ERROR_RESPONSE, Buffer.from(text))
}

/** A message: its type, its length, its body. */
export const frame = (type: number, body: Buffer): Buffer => {
  const head = Buffer.alloc(HEADER_BYTES)
  head.writeUInt8(type, 0)
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}

/** Whole messages pass through `see`, which may give others in their place; all else passes untouched. */
export class ServerMessages extends Transform {
  readonly #see: (type: number, message: Buffer) => Buffer
  /** The beginning of a message that did not come whole yet. */
  #held: Buffer = Buffer.alloc(0)
  /** Bytes of a message that pass unread. */
  #passing = 0

  /** @param see takes the errors and the key that the server sends. */
  constructor(see: (type: number, message: Buffer) => Buffer) {
    super()
    this.#see = see
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let bytes = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk
    this.#held = Buffer.alloc(0)
    let at = 0
    /** From here on nothing was passed on yet. */
    let from = 0
    while (at < bytes.length) {
      if (this.#passing > 0) {
        const taken = Math.min(this.#passing, bytes.length - at)
        this.#passing -= taken
        at += taken
        continue
      }
      if (bytes.length - at < HEADER_BYTES) break
      const type = bytes.readUInt8(at)
      const length = 1 + Math.max(4, bytes.readInt32BE(at + 1))
      if (!isOfInterest(type) || length > MAX_HELD_BYTES) {
        this.#passing = length
        continue
      }
      if (bytes.length - at < length) break
      if (at > from) this.push(bytes.subarray(from, at))
      this.push(this.#see(type, bytes.subarray(at, at + length)))
      bytes = bytes.subarray(at + length)
      at = 0
      from = 0
    }
    if (at > from) this.push(bytes.subarray(from, at))
    if (at < bytes.length) this.#held = Buffer.from(bytes.subarray(at))
    done()
  }
}

const isOfInterest = (type: number): boolean => type === ERROR_RESPONSE || type === BACKEND_KEY_DATA

/** The process and the secret that a cancel request must name, as that request spells them. */
export const keyOf = (type: number, message: Buffer): string | undefined =>
  type === BACKEND_KEY_DATA ? message.toString('hex', HEADER_BYTES) : undefined

/** The server's process that a key is of. */
export const processOf = (key: string): number => Number.parseInt(key.slice(0, 8), 16)

/**
 * A compute's disk for temporary files is a limit of Postgres here (53400), and a cancelled query (57014) where several
 * sessions filled it; the service has a real disk, which says 53100 and "No space left on device" (docs/control-api.md).
 *
 * @param wasStopped asked once for a cancelled query: whether it was stopped since the disk was full.
 */
export const asFullDisk = (type: number, message: Buffer, wasStopped: () => boolean): Buffer => {
  if (type !== ERROR_RESPONSE) return message
  const fields = message.toString('utf8', HEADER_BYTES).split('\0')
  const isLimit = fields.includes('C53400') && fields.some((field) => field.includes('temp_file_limit'))
  const isFull = isLimit || (fields.includes('C57014') && wasStopped())
  if (!isFull) return message
  return errorResponse(
    { code: '53100', message: 'could not write to file "base/pgsql_tmp": No space left on device' },
    'ERROR',
  )
}
