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
