/**
 * SCRAM with channel binding (`channel_binding=require`, which the service's own clients use). The server cannot offer
 * channel binding, because TLS ends at the proxy. Instead, the client logs in to the proxy, which checks the login
 * against the secret that the server stores. The proxy then logs in to the server with the client key that it learned.
 */
import type { Socket } from 'node:net'
import { ConnectionError } from '../computes.ts'
import { frame, HEADER_BYTES } from './messages.ts'
import { BINDING, parseSecret, ScramClient, ScramServer } from './scram.ts'

const AUTHENTICATION = 'R'.charCodeAt(0)
const PASSWORD = 'p'.charCodeAt(0)
const [SASL, SASL_CONTINUE, SASL_FINAL] = [10, 11, 12]
const PLAIN = 'SCRAM-SHA-256'
const BOUND = 'SCRAM-SHA-256-PLUS'
/** Longer login messages are rejected. */
const MAX_BYTES = 65_536
const INVALID_PASSWORD = '28P01'
const PROTOCOL_VIOLATION = '08P01'

export interface Login {
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

  /** @throws {ConnectionError} if the message is too long, {Error} if the socket closes first. */
  next(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const finish = (act: () => void): void => {
        this.#socket.off('data', take).off('close', gone)
        this.#socket.pause()
        act()
      }
      const gone = (): void => finish(() => reject(new Error('the connection was closed')))
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
