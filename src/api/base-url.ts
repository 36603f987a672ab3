import { EspalierError } from '../model/index.ts'

/** The public API root of the service. */
export const DEFAULT_BASE_URL = 'https://console.neon.tech/api/v2'

/** Whether a URL's host name is this machine. */
export const isLoopback = (hostname: string): boolean => LOOPBACK.test(hostname)

const LONGEST_URL = 2_000
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * The API root, without a slash at its end.
 *
 * @throws {EspalierError} `E_BASE_URL` if it is not an http(s) URL, holds a user or password, or is plain http to
 * anything but this machine: the key would travel in the open.
 */
export const parseBaseUrl = (text: string): URL => {
  const url = text.length <= LONGEST_URL && URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new EspalierError('E_BASE_URL', 'The base URL is not an http or https URL.', {
      hint: `It should look like ${DEFAULT_BASE_URL}.`,
    })
  }
  if (url.username !== '' || url.password !== '') {
    throw new EspalierError('E_BASE_URL', 'The base URL must hold no user or password.', {
      hint: 'Put the key into ESPALIER_API_KEY.',
    })
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new EspalierError(
      'E_BASE_URL',
      `Plain http to ${url.hostname} is refused: the key would travel unencrypted.`,
      {
        hint: 'Use https; plain http is for this machine (127.0.0.1, localhost, ::1) only.',
      },
    )
  }
  url.pathname = url.pathname.replace(/\/+$/, '')
  url.search = ''
  url.hash = ''
  return url
}
