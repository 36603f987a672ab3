/**
 * SCRAM-SHA-256 with the secrets that Postgres stores (RFC 5802, RFC 7677; PostgreSQL documentation, 55.3). The proxy
 * uses a secret to check the login of a client. From the login, it learns the client key, with which it logs in to the
 * server.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Socket } from 'node:net'
import { CANNOT_CONNECT_NOW, ConnectionError } from '../computes.ts'
import { frame, HEADER_BYTES } from './messages.ts'

/** From `SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>`, the column `rolpassword` of `pg_authid`. */
interface ScramSecret {
  readonly iterations: string
  readonly salt: string
  readonly storedKey: Buffer
  readonly serverKey: Buffer
}

/** `undefined` if the text is not a SCRAM secret. */
const parseSecret = (text: string): ScramSecret | undefined => {
  const [, iterations, salt, storedKey, serverKey] = /^SCRAM-SHA-256\$(\d+):([^$]+)\$([^:]+):(.+)$/.exec(text) ?? []
  if (iterations === undefined || salt === undefined || storedKey === undefined || serverKey === undefined)
    return undefined
  return { iterations, salt, storedKey: Buffer.from(storedKey, 'base64'), serverKey: Buffer.from(serverKey, 'base64') }
}

/** With more iterations, which a client can choose for its own password, the check would block the sandbox. */
const MOST_ITERATIONS = 100_000

/** The answers so far, because each takes milliseconds. */
const known = new Map<string, boolean>()
const REMEMBERED = 10_000

/** Whether a stored secret was made from this password. */
export const isSecretOf = (secret: string, password: string): boolean => {
  const key = `${secret} ${password}`
  const answer = known.get(key) ?? isMadeFrom(secret, password)
  if (known.size >= REMEMBERED) known.clear()
  known.set(key, answer)
  return answer
}

const isMadeFrom = (secret: string, password: string): boolean => {
  const stored = parseSecret(secret)
  if (stored === undefined || Number(stored.iterations) > MOST_ITERATIONS) return false
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
const newNonce = (): string => randomBytes(18).toString('base64')

/** How a client's first message begins if the client uses channel binding (RFC 5929). */
const BINDING = 'p=tls-server-end-point,,'

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

// SCRAM with channel binding (`channel_binding=require`, which the service's own clients use). The server cannot offer
// channel binding, because TLS ends at the proxy. Instead, the client logs in to the proxy, which checks the login
// against the secret that the server stores. The proxy then logs in to the server with the client key that it learned.

const AUTHENTICATION = 'R'.charCodeAt(0)
const PASSWORD = 'p'.charCodeAt(0)
const [SASL, SASL_CONTINUE, SASL_FINAL] = [10, 11, 12]
const PLAIN = 'SCRAM-SHA-256'
const BOUND = 'SCRAM-SHA-256-PLUS'
/** Longer login messages are rejected. */
const MAX_BYTES = 65_536
const INVALID_PASSWORD = '28P01'
const PROTOCOL_VIOLATION = '08P01'

interface Login {
  readonly client: Socket
  readonly server: Socket
  readonly user: string
  /** The proxy's certificate, as DER. */
  readonly certificate: Buffer
  /** Returns the role's secret from `pg_authid`, or `undefined` if the role has none. */
  readonly secretOf: (user: string) => Promise<string | undefined>
}

/** Bytes that were already read and must be forwarded first. */
export interface ReadAhead {
  readonly toClient: Buffer
  readonly toServer: Buffer
}

/**
 * Offers channel binding to the client, and performs the login if the client chooses it. If the client does not choose
 * it, or if the server requests another method, this function only returns the bytes that it has read. Call it before
 * the server's first response is read.
 *
 * @param early bytes that the client has already sent.
 * @throws {ConnectionError} if the login fails.
 */
export const bindChannel = async (login: Login, early: Buffer): Promise<ReadAhead> => {
  const [client, server] = [new Messages(login.client, early), new Messages(login.server)]
  const challenge = await server.next()
  if (!isSasl(challenge)) return { toClient: Buffer.concat([challenge, server.rest()]), toServer: client.rest() }
  login.client.write(authentication(SASL, `${BOUND}\0${PLAIN}\0\0`))
  const chosen = await client.next()
  const mechanism = chosen.toString('latin1', HEADER_BYTES, chosen.indexOf(0, HEADER_BYTES))
  if (mechanism !== BOUND) return { toClient: server.rest(), toServer: Buffer.concat([chosen, client.rest()]) }
  // The mechanism's name and its zero byte are followed by a four-byte length.
  const first = chosen.toString('utf8', HEADER_BYTES + mechanism.length + 5)
  const secret = parseSecret((await login.secretOf(login.user)) ?? '')
  if (!first.startsWith(BINDING) || secret === undefined) throw wrongPassword(login.user)
  const here = new ScramServer(secret, first.slice(BINDING.length), login.certificate)
  login.client.write(authentication(SASL_CONTINUE, here.first))
  const accepted = here.accept((await client.next()).toString('utf8', HEADER_BYTES))
  if (accepted === undefined) throw wrongPassword(login.user)
  await logIn(server, login.server, accepted.clientKey)
  login.client.write(authentication(SASL_FINAL, accepted.final))
  return { toClient: server.rest(), toServer: client.rest() }
}

const logIn = async (messages: Messages, server: Socket, clientKey: Buffer): Promise<void> => {
  const there = new ScramClient()
  const first = Buffer.from(there.first)
  const length = Buffer.alloc(4)
  length.writeInt32BE(first.length)
  server.write(frame(PASSWORD, Buffer.concat([Buffer.from(`${PLAIN}\0`), length, first])))
  const continued = await messages.next()
  server.write(frame(PASSWORD, Buffer.from(there.final(continued.toString('utf8', HEADER_BYTES + 4), clientKey))))
  const final = await messages.next()
  if (final[0] !== AUTHENTICATION || final.readInt32BE(HEADER_BYTES) !== SASL_FINAL) {
    throw new ConnectionError(INVALID_PASSWORD, 'password authentication failed')
  }
}

const isSasl = (bytes: Buffer): boolean =>
  bytes[0] === AUTHENTICATION && bytes.length > HEADER_BYTES + 4 && bytes.readInt32BE(HEADER_BYTES) === SASL

const wrongPassword = (user: string): ConnectionError =>
  new ConnectionError(INVALID_PASSWORD, `password authentication failed for user "${user}"`)

const authentication = (kind: number, text: string): Buffer => {
  const body = Buffer.alloc(4)
  body.writeInt32BE(kind)
  return frame(AUTHENTICATION, Buffer.concat([body, Buffer.from(text)]))
}

/** Reads one message at a time from a socket. `rest()` returns the bytes that arrived after the last message. */
class Messages {
  readonly #socket: Socket
  #held: Buffer

  constructor(socket: Socket, held: Buffer = Buffer.alloc(0)) {
    this.#socket = socket
    this.#held = held
  }

  /** @throws {ConnectionError} if the message is too long or the socket closes first. */
  next(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const finish = (act: () => void): void => {
        this.#socket.off('data', take).off('close', gone)
        this.#socket.pause()
        act()
      }
      const gone = (): void =>
        finish(() => reject(new ConnectionError(CANNOT_CONNECT_NOW, 'the connection was closed')))
      const take = (chunk: Buffer): void => {
        this.#held = Buffer.concat([this.#held, chunk])
        if (this.#held.length < HEADER_BYTES) return
        const length = 1 + this.#held.readInt32BE(1)
        if (length < HEADER_BYTES || length > MAX_BYTES) {
          finish(() => reject(new ConnectionError(PROTOCOL_VIOLATION, 'invalid message length')))
        } else if (this.#held.length >= length) {
          const whole = this.#held.subarray(0, length)
          this.#held = this.#held.subarray(length)
          finish(() => resolve(whole))
        }
      }
      this.#socket.on('data', take).once('close', gone)
      take(Buffer.alloc(0))
      if (this.#socket.listenerCount('data') > 0) this.#socket.resume()
    })
  }

  rest(): Buffer {
    return this.#held
  }
}
