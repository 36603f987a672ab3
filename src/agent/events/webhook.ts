/** Sends events to a webhook as CloudEvents 1.0 (JSON, structured mode), which are signed as Standard Webhooks. */
import { createHmac } from 'node:crypto'
import { EspalierError, plainJson } from '../../base/index.ts'
import type { AgentEvent } from './kept.ts'

/** Sends a request, and returns the HTTP status. Rejects if there is no response. */
export type Send = (body: string, headers: Readonly<Record<string, string>>) => Promise<number>

const TIMEOUT_MS = 15_000
const SECRET_PREFIX = 'whsec_'

/** @param source identifies the agent by its repository or folder. */
export const cloudEvent = (subject: string, { id, type, at, data }: AgentEvent, source: string): string =>
  plainJson({
    specversion: '1.0',
    id,
    source: `urn:espalier:agent:${encodeURIComponent(source)}`,
    type: `dev.espalier.${type}`,
    subject,
    time: new Date(at).toISOString(),
    datacontenttype: 'application/json',
    data,
  })

/** @param timestamp the time of this attempt, not the time of the event, in seconds since the epoch. */
export const eventHeaders = (
  key: Buffer,
  id: string,
  timestamp: number,
  body: string,
): Readonly<Record<string, string>> => ({
  'content-type': 'application/cloudevents+json; charset=utf-8',
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
})

/**
 * Returns a function that sends events to the URL given with `--notify`.
 *
 * @throws {EspalierError} `E_USAGE` if it is not an HTTP or HTTPS URL. The message omits it, as it may hold a token.
 */
export const sendTo = (url: string): Send => {
  const { protocol } = URL.canParse(url) ? new URL(url) : { protocol: '' }
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw new EspalierError('E_USAGE', '--notify must be an http or https URL.')
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

/** Decodes a secret such as `whsec_…`. Returns `undefined` unless it is a valid secret of 24 to 64 bytes. */
export const webhookKey = (secret: string): Buffer | undefined => {
  const encoded = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : ''
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return undefined
  const key = Buffer.from(encoded, 'base64')
  return key.length >= 24 && key.length <= 64 ? key : undefined
}

/** @throws {EspalierError} `E_USAGE` if the file given with `--notify-secret-file` does not contain a valid secret. */
export const notifyKey = (text: string): Buffer => {
  const key = webhookKey(text.trim())
  if (key !== undefined) return key
  throw new EspalierError('E_USAGE', 'The file of --notify-secret-file does not contain a Standard Webhooks secret.', {
    hint: 'Create one with: echo "whsec_$(openssl rand -base64 32)" > FILE',
  })
}
