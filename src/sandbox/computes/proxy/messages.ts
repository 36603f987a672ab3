/** Messages from the server to the client (PostgreSQL documentation, 53.7 and 53.8). */
import { Transform, type TransformCallback } from 'node:stream'

export const HEADER_BYTES = 5
const ERROR_RESPONSE = 'E'.charCodeAt(0)
const BACKEND_KEY_DATA = 'K'.charCodeAt(0)
/** Errors and cancel keys are short, so longer messages are forwarded without being read. */
const MAX_HELD_BYTES = 65_536

interface ErrorFields {
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
 * space left on device" (docs/reference/sandbox.md). In the sandbox, Postgres reports that its own limit was exceeded
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

// A client's first message (PostgreSQL documentation, 53.7: StartupMessage, SSLRequest, CancelRequest).

const SSL_REQUEST = 80_877_103
const GSS_REQUEST = 80_877_104
const CANCEL_REQUEST = 80_877_102
const PROTOCOL_MAJOR = 3
/** Postgres rejects longer startup messages too. */
const MAX_BYTES = 10_000

export interface Startup {
  readonly kind: 'startup'
  readonly version: number
  readonly parameters: ReadonlyMap<string, string>
}

export type FirstMessage =
  | Startup
  | { readonly kind: 'ssl' | 'gss' }
  | { readonly kind: 'cancel'; readonly key: string; readonly bytes: Buffer }
  | { readonly kind: 'invalid' }

/** Returns the message and its length in bytes, or `undefined` if the message is not complete yet. */
export const readFirstMessage = (
  bytes: Buffer,
): { readonly message: FirstMessage; readonly length: number } | undefined => {
  if (bytes.length < 8) return undefined
  const length = bytes.readInt32BE(0)
  if (length < 8 || length > MAX_BYTES) return { message: { kind: 'invalid' }, length: bytes.length }
  if (bytes.length < length) return undefined
  return { message: parse(bytes.subarray(0, length)), length }
}

const parse = (bytes: Buffer): FirstMessage => {
  const code = bytes.readInt32BE(4)
  if (code === SSL_REQUEST) return { kind: 'ssl' }
  if (code === GSS_REQUEST) return { kind: 'gss' }
  if (code === CANCEL_REQUEST) return { kind: 'cancel', key: bytes.toString('hex', 8), bytes: Buffer.from(bytes) }
  if (code >> 16 !== PROTOCOL_MAJOR) return { kind: 'invalid' }
  const words = bytes.toString('utf8', 8, bytes.length - 1).split('\0')
  const parameters = new Map<string, string>()
  for (let index = 0; index + 1 < words.length; index += 2) {
    const [name = '', value = ''] = words.slice(index, index + 2)
    if (name !== '') parameters.set(name, value)
  }
  return { kind: 'startup', version: code, parameters }
}

export const encodeStartup = ({ version, parameters }: Omit<Startup, 'kind'>): Buffer => {
  const text = [...parameters].map(([name, value]) => `${name}\0${value}\0`).join('')
  const body = Buffer.from(`${text}\0`)
  const head = Buffer.alloc(8)
  head.writeInt32BE(8 + body.length, 0)
  head.writeInt32BE(version, 4)
  return Buffer.concat([head, body])
}

/** The compute that a client connects to. */
export interface Target {
  readonly computeId: string
  readonly pooled: boolean
}

/** @param name the first label of the host name, or the value of the `endpoint` option. */
export const targetOf = (name: string): Target =>
  name.endsWith('-pooler')
    ? { computeId: name.slice(0, -'-pooler'.length), pooled: true }
    : { computeId: name, pooled: false }

/**
 * Removes `endpoint=<id>` from the `options` parameter. Clients without SNI use it to name their compute (docs of the
 * service, "Connection errors"). The other options are passed to Postgres.
 */
export const takeEndpoint = (
  startup: Startup,
): { readonly startup: Startup; readonly endpoint: string | undefined } => {
  const parts = (startup.parameters.get('options') ?? '').split(' ').filter((part) => part !== '')
  const isEndpoint = (part: string): boolean => part.startsWith('endpoint=')
  const endpoint = parts.find(isEndpoint)?.slice('endpoint='.length)
  if (endpoint === undefined) return { startup, endpoint }
  const parameters = new Map(startup.parameters)
  const rest = parts.filter((part) => !isEndpoint(part))
  if (rest.length === 0) parameters.delete('options')
  else parameters.set('options', rest.join(' '))
  return { startup: { ...startup, parameters }, endpoint }
}
