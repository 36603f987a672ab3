/** Whom the key is handed to: nobody whose certificate was not checked. */
import { EspalierError } from '../model/index.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Said with every connection, so that nothing in the environment can say otherwise. */
export const VERIFIED = { rejectUnauthorized: true } as const

/** @throws {EspalierError} `E_TLS` if the environment disables the check, rather than silently skipping it. */
export const refuseUnverified = ({ protocol }: URL, env: Environment = process.env): void => {
  if (protocol !== 'https:' || env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return
  throw new EspalierError('E_TLS', 'NODE_TLS_REJECT_UNAUTHORIZED=0 turns certificate checks off.', {
    hint: 'Unset it. A private authority is trusted by its certificate: NODE_EXTRA_CA_CERTS=FILE.',
  })
}

/** @throws {EspalierError} `E_KEY` for what no header can carry; the key itself is not shown. */
export const checkKey = (key: string | undefined): void => {
  if (key === undefined || key === '') {
    throw new EspalierError('E_KEY', 'There is no API key, or it is empty.', { hint: 'Set ESPALIER_API_KEY.' })
  }
  if (/^[\x21-\x7e]+$/.test(key)) return
  throw new EspalierError('E_KEY', 'The API key holds a space, a line break or a character outside ASCII.', {
    hint: 'Copy it again: a key is one line of letters, digits and punctuation.',
  })
}
