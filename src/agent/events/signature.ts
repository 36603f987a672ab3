/** Standard Webhooks signatures, so that receivers can authenticate events. */
import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'

/** Decodes `whsec_…`; `undefined` unless it is a valid secret of 24 to 64 bytes. */
export const webhookKey = (secret: string): Buffer | undefined => {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : ''
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return undefined
  const key = Buffer.from(encoded, 'base64')
  return key.length >= 24 && key.length <= 64 ? key : undefined
}

export interface SignedMessage {
  readonly id: string
  /** When this attempt was made, not the event. Seconds since the epoch. */
  readonly timestamp: number
  readonly body: string
}

export const signedHeaders = (
  key: Buffer,
  { id, timestamp, body }: SignedMessage,
): Readonly<Record<string, string>> => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
})
