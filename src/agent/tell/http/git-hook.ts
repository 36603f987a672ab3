/** Verifies the webhooks that git hosts send for a push. A push only makes the agent fetch sooner. */
import { createHmac, type Hmac } from 'node:crypto'
import { isSame } from './access.ts'

const MAX_BYTES = 25 * 1024 * 1024
const MAX_AGE_SECONDS = 5 * 60

type HookVerdict = 'signed' | 'not-signed' | 'too-large'

const SECRET_PREFIX = 'whsec_'

/** Decodes a Standard Webhooks secret such as `whsec_…`, or returns `undefined` unless it has 24 to 64 bytes. */
export const webhookKey = (secret: string): Buffer | undefined => {
  const encoded = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : ''
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return undefined
  const key = Buffer.from(encoded, 'base64')
  return key.length >= 24 && key.length <= 64 ? key : undefined
}

/** The signatures that a request carries, and how to compute the expected one. */
interface Claim {
  readonly hmac: Hmac
  readonly encoding: 'hex' | 'base64'
  /** At least one must match. */
  readonly signatures: readonly string[]
}

/** Verifies a webhook request. The body is read only if the request carries a signature. */
export const verifyHook = async (request: Request, secret: string, now: number): Promise<HookVerdict> => {
  const { headers } = request
  // Without a signing token, GitLab sends the secret itself.
  const gitlabToken = headers.get('x-gitlab-token')
  const claim = standardClaim(headers, secret, now) ?? hexClaim(headers, secret)
  if (claim === undefined) return gitlabToken !== null && isSame(gitlabToken, secret) ? 'signed' : 'not-signed'
  let bytes = 0
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > MAX_BYTES) return 'too-large'
    claim.hmac.update(chunk)
  }
  const expected = claim.hmac.digest(claim.encoding)
  return claim.signatures.some((one) => isSame(one, expected)) ? 'signed' : 'not-signed'
}

/** The signature headers that GitHub and Bitbucket send, followed by those that Gitea, Forgejo and Gogs send. */
const HEX_HEADERS = [
  ['x-hub-signature-256', /^sha256=([\da-f]{64})$/],
  ['x-hub-signature', /^sha256=([\da-f]{64})$/],
  ['x-forgejo-signature', /^([\da-f]{64})$/],
  ['x-gitea-signature', /^([\da-f]{64})$/],
  ['x-gogs-signature', /^([\da-f]{64})$/],
] as const

const hexClaim = (headers: Headers, secret: string): Claim | undefined => {
  for (const [name, pattern] of HEX_HEADERS) {
    const signature = pattern.exec(headers.get(name) ?? '')?.[1]
    if (signature !== undefined) {
      return { hmac: createHmac('sha256', secret), encoding: 'hex', signatures: [signature] }
    }
  }
  return undefined
}

/** A signature according to Standard Webhooks, which GitLab sends if it has a signing token. */
const standardClaim = (headers: Headers, secret: string, now: number): Claim | undefined => {
  const [id, timestamp, given] = ['id', 'timestamp', 'signature'].map((name) => headers.get(`webhook-${name}`))
  const key = webhookKey(secret)
  if (!id || !timestamp || !given || key === undefined) return undefined
  if (!(Math.abs(now / 1_000 - Number(timestamp)) <= MAX_AGE_SECONDS)) return undefined
  return {
    hmac: createHmac('sha256', key).update(`${id}.${timestamp}.`),
    encoding: 'base64',
    signatures: given.split(' ').flatMap((one) => (one.startsWith('v1,') ? [one.slice(3)] : [])),
  }
}
