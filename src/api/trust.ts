/** Checks before the key is sent: the server's certificate must be verified. */
import { EspalierError } from '../model/index.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Set on every connection, so that the environment cannot override it. */
export const VERIFIED = { rejectUnauthorized: true } as const

/** @throws {EspalierError} `E_TLS` if the environment disables certificate checks. */
export const refuseUnverified = ({ protocol }: URL, env: Environment = process.env): void => {
  if (protocol !== 'https:' || env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return
  throw new EspalierError('E_TLS', 'NODE_TLS_REJECT_UNAUTHORIZED=0 turns certificate checks off.', {
    hint: 'Unset it. To trust a private certificate authority, set NODE_EXTRA_CA_CERTS=FILE.',
  })
}

/** @throws {EspalierError} `E_KEY` if the key cannot be sent in a header. The message does not contain it. */
export const checkKey = (key: string | undefined): void => {
  if (key === undefined || key === '') {
    throw new EspalierError('E_KEY', 'There is no API key, or it is empty.', { hint: 'Set ESPALIER_API_KEY.' })
  }
  if (/^[\x21-\x7e]+$/.test(key)) return
  throw new EspalierError('E_KEY', 'The API key contains a space, a line break or a non-ASCII character.', {
    hint: 'Copy it again: a key is one line of letters, digits and punctuation.',
  })
}
