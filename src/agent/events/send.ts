/** Sends events to the URL given by `--notify`. */
import { EspalierError } from '../../base/index.ts'
import type { Send } from './notifier.ts'
import { webhookKey } from './signature.ts'

const TIMEOUT_MS = 15_000

/**
 * @throws {EspalierError} `E_USAGE` for anything but an HTTP(S) URL. The message omits the URL, which may hold a token.
 */
export const sendTo = (url: string): Send => {
  const { protocol } = URL.canParse(url) ? new URL(url) : { protocol: '' }
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw new EspalierError('E_USAGE', '--notify is not an http or https address.')
  }
  return async (body, headers) => {
    const answer = await fetch(url, {
      method: 'POST',
      body,
      headers,
      // A redirect would send the event to a URL that the user did not configure.
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await answer.body?.cancel()
    return answer.status
  }
}

/** @throws {EspalierError} `E_USAGE` if the file of `--notify-secret-file` holds no valid secret. */
export const notifyKey = (text: string): Buffer => {
  const key = webhookKey(text.trim())
  if (key !== undefined) return key
  throw new EspalierError('E_USAGE', 'The file of --notify-secret-file does not hold a Standard Webhooks secret.', {
    hint: 'Write one with: echo "whsec_$(openssl rand -base64 32)" > FILE',
  })
}
