/**
 * SCRAM-SHA-256 with the secrets that Postgres stores (RFC 5802, RFC 7677; PostgreSQL documentation, 55.3). The proxy
 * uses a secret to check the login of a client. From the login, it learns the client key, with which it logs in to the
 * server.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'

/** From `SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>`, the column `rolpassword` of `pg_authid`. */
export interface ScramSecret {
  readonly iterations: string
  readonly salt: string
  readonly storedKey: Buffer
  readonly serverKey: Buffer
}

/** `undefined` if the text is not a SCRAM secret. */
export const parseSecret = (text: string): ScramSecret | undefined => {
  const [, iterations, salt, storedKey, serverKey] = /^SCRAM-SHA-256\$(\d+):([^$]+)\$([^:]+):(.+)$/.exec(text) ?? []
  if (iterations === undefined || salt === undefined || storedKey === undefined || serverKey === undefined)
    return undefined
  return { iterations, salt, storedKey: Buffer.from(storedKey, 'base64'), serverKey: Buffer.from(serverKey, 'base64') }
}

/** Whether a stored secret was made from this password. */
export const isSecretOf = (secret: string, password: string): boolean => {
  const stored = parseSecret(secret)
  if (stored === undefined) return false
  const { iterations, salt, storedKey } = stored
  const salted = pbkdf2Sync(password, Buffer.from(salt, 'base64'), Number(iterations), 32, 'sha256')
  const made = sha256(hmac(salted, 'Client Key'))
  return made.length === storedKey.length && timingSafeEqual(made, storedKey)
}

const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest()
const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
const xor = (a: Buffer, b: Buffer): Buffer => Buffer.from(a.map((byte, index) => byte ^ (b[index] ?? 0)))
const fieldOf = (message: string, name: string): string =>
  message
    .split(',')
    .find((field) => field.startsWith(`${name}=`))
    ?.slice(2) ?? ''
export const newNonce = (): string => randomBytes(18).toString('base64')

/** How a client's first message begins if the client uses channel binding (RFC 5929). */
export const BINDING = 'p=tls-server-end-point,,'

/** The server's side of a login with channel binding. */
export class ScramServer {
  readonly first: string
  readonly #clientFirst: string
  readonly #secret: ScramSecret
  readonly #binding: string

  /**
   * @param clientFirst the client's first message without `BINDING`.
   * @param certificate the certificate of the server, as DER.
   */
  constructor(secret: ScramSecret, clientFirst: string, certificate: Buffer) {
    this.#secret = secret
    this.#clientFirst = clientFirst
    const digest = sha256(certificate)
    this.#binding = Buffer.concat([Buffer.from(BINDING), digest]).toString('base64')
    this.first = `r=${fieldOf(clientFirst, 'r')}${newNonce()},s=${secret.salt},i=${secret.iterations}`
  }

  /** Checks the client's proof. Returns the client key and the final message, or `undefined` if the proof is wrong. */
  accept(clientFinal: string): { readonly clientKey: Buffer; readonly final: string } | undefined {
    const at = clientFinal.lastIndexOf(',p=')
    const withoutProof = clientFinal.slice(0, at)
    const isBound = fieldOf(withoutProof, 'c') === this.#binding
    if (at < 0 || !isBound || fieldOf(withoutProof, 'r') !== fieldOf(this.first, 'r')) return undefined
    const message = `${this.#clientFirst},${this.first},${withoutProof}`
    const proof = Buffer.from(clientFinal.slice(at + 3), 'base64')
    const { storedKey, serverKey } = this.#secret
    const clientKey = xor(hmac(storedKey, message), proof)
    const stored = sha256(clientKey)
    if (proof.length !== stored.length || !timingSafeEqual(stored, storedKey)) return undefined
    return { clientKey, final: `v=${hmac(serverKey, message).toString('base64')}` }
  }
}

/** The client's side of a login. It needs only the client key, not the password. */
export class ScramClient {
  /** Contains no user name, because Postgres uses the user name in the startup message. */
  readonly #bare = `n=,r=${newNonce()}`

  get first(): string {
    return `n,,${this.#bare}`
  }

  final(serverFirst: string, clientKey: Buffer): string {
    const withoutProof = `c=biws,r=${fieldOf(serverFirst, 'r')}`
    const storedKey = sha256(clientKey)
    const proof = xor(clientKey, hmac(storedKey, `${this.#bare},${serverFirst},${withoutProof}`))
    return `${withoutProof},p=${proof.toString('base64')}`
  }
}
