/** A client's first message (PostgreSQL documentation, 53.7: StartupMessage, SSLRequest, CancelRequest). */

export const SSL_REQUEST = 80_877_103
export const GSS_REQUEST = 80_877_104
export const CANCEL_REQUEST = 80_877_102
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
