/** Checks the base URL, the certificate settings and the key itself before the key is sent. */
import { EspalierError } from '../model/index.ts'

/** The service's API root. */
export const DEFAULT_BASE_URL = 'https://console.neon.tech/api/v2'

/** Whether a URL's host name is a loopback address. */
export const isLoopback = (hostname: string): boolean => LOOPBACK.test(hostname)

const LONGEST_URL = 2_000
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * Parses the API root and removes trailing slashes.
 *
 * @throws {EspalierError} `E_BASE_URL` if it is not an http(s) URL, contains a user or password, or is plain http to
 *   another machine, since the key would be sent unencrypted.
 */
export const parseBaseUrl = (text: string): URL => {
  const url = text.length <= LONGEST_URL && URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new EspalierError('E_BASE_URL', 'The base URL is not an http or https URL.', {
      hint: `It should look like ${DEFAULT_BASE_URL}.`,
    })
  }
  if (url.username !== '' || url.password !== '') {
    throw new EspalierError('E_BASE_URL', 'The base URL must not contain a user or password.', {
      hint: 'Set the key in ESPALIER_API_KEY.',
    })
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new EspalierError(
      'E_BASE_URL',
      `Plain http to ${url.hostname} is not allowed: the key would be sent unencrypted.`,
      {
        hint: 'Use https. Plain http is only allowed to this machine (127.0.0.1, localhost, ::1).',
      },
    )
  }
  url.pathname = url.pathname.replace(/\/+$/, '')
  url.search = ''
  url.hash = ''
  return url
}

/** Set on every connection, so that the environment cannot override it. */
export const VERIFIED = { rejectUnauthorized: true } as const

/** @throws {EspalierError} `E_TLS` if the environment disables certificate checks. */
export const refuseUnverified = ({ protocol }: URL, env: NodeJS.ProcessEnv = process.env): void => {
  if (protocol !== 'https:' || env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return
  throw new EspalierError('E_TLS', 'NODE_TLS_REJECT_UNAUTHORIZED=0 turns certificate checks off.', {
    hint: 'Unset it. To trust a private certificate authority, set NODE_EXTRA_CA_CERTS=FILE.',
  })
}

/** @throws {EspalierError} `E_KEY` if the key cannot be sent in a header. The message does not contain it. */
export const checkKey = (key: string | undefined): void => {
  if (key === undefined || key === '') {
    throw new EspalierError('E_KEY', 'The API key is missing or empty.', { hint: 'Set ESPALIER_API_KEY.' })
  }
  if (/^[\x21-\x7e]+$/.test(key)) return
  throw new EspalierError('E_KEY', 'The API key contains a space, a line break or a non-ASCII character.', {
    hint: 'Copy it again: a key is one line of letters, digits and punctuation.',
  })
}
