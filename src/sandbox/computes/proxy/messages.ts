/** Messages from the server to the client (PostgreSQL documentation, 53.7 and 53.8). */
import { Transform, type TransformCallback } from 'node:stream'

export const HEADER_BYTES = 5
const ERROR_RESPONSE = 'E'.charCodeAt(0)
const BACKEND_KEY_DATA = 'K'.charCodeAt(0)
/** Errors and cancel keys are short, so longer messages are forwarded without being read. */
const MAX_HELD_BYTES = 65_536

export interface ErrorFields {
  readonly code: string
  readonly message: string
}

export const errorResponse = ({ code, message }: ErrorFields, severity = 'FATAL'): Buffer => {
  const text = `S${severity}\0V${severity}\0C${code}\0M${message.replaceAll('\0', '')}\0\0`
  return frame(ERROR_RESPONSE, Buffer.from(text))
}

/** Encodes a message: type, length, body. */
export const frame = (type: number, body: Buffer): Buffer => {
  const head = Buffer.alloc(HEADER_BYTES)
  head.writeUInt8(type, 0)
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}

/** Forwards all messages. Errors and cancel keys go through `see`, which may replace them. */
export class ServerMessages extends Transform {
  readonly #see: (type: number, message: Buffer) => Buffer
  /** The start of an incomplete message. */
  #held: Buffer = Buffer.alloc(0)
  /** How many bytes are left of a message that is forwarded without being read. */
  #passing = 0

  constructor(see: (type: number, message: Buffer) => Buffer) {
    super()
    this.#see = see
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let bytes = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk
    this.#held = Buffer.alloc(0)
    let at = 0
    /** Start of the bytes that have not been forwarded yet. */
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

/** The process id and secret that a cancel request must contain, encoded as in the request. */
export const keyOf = (type: number, message: Buffer): string | undefined =>
  type === BACKEND_KEY_DATA ? message.toString('hex', HEADER_BYTES) : undefined

/** The server process that a cancel key belongs to. */
export const processOf = (key: string): number => Number.parseInt(key.slice(0, 8), 16)

/**
 * If an error was caused by a full temporary disk, replaces it with the error that the service returns: 53100, "No
 * space left on device" (docs/sandbox.md). In the sandbox, Postgres reports that its own limit was exceeded
 * (53400). If several sessions together exceeded the limit of the compute, it reports a cancelled query (57014).
 *
 * @param wasStopped called once for a cancelled query. Returns whether the query was cancelled because the disk was
 *   full.
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
