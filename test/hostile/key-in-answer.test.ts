/** Servers whose responses contain the key, plain or encoded. */
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { createReadApi, createWriteApi } from '../../src/api/index.ts'
import { keyFinder } from '../../src/api/key-in-answer.ts'
import { send } from '../api/send.ts'
import { quickClock } from '../quick-clock.ts'
import { serve } from '../serve.ts'

const KEY = 'napi_S3CRET/key+0123456789=='

const escaped = (text: string): string =>
  [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')

/** Encodings of the key inside a JSON string. */
const FORMS: Readonly<Record<string, string>> = {
  'in plain text': KEY,
  'in JSON escapes': escaped(KEY),
  'with one JSON escape': `\\u006e${KEY.slice(1)}`,
  'with escaped slashes': KEY.replaceAll('/', '\\/'),
  'in base64': Buffer.from(`Bearer ${KEY}`).toString('base64'),
  'in base64url': Buffer.from(`x${KEY}`).toString('base64url'),
  'in hexadecimal': Buffer.from(KEY).toString('hex'),
  'percent-encoded': encodeURIComponent(KEY),
  'with every character percent-encoded': Buffer.from(KEY).toString('hex').replace(/../g, '%$&'),
  'in upper case': KEY.toUpperCase(),
}

const open = async (status: number, body: string) => {
  const { port } = await serve((_request, response) => response.writeHead(status).end(body))
  const api = createWriteApi({ baseUrl: `http://127.0.0.1:${port}`, apiKey: KEY, clock: quickClock(1_000) })
  onTestFinished(() => api.close())
  return api
}

const expectNoKey = (said: string): void => {
  for (const form of Object.values(FORMS)) expect(said).not.toContain(form)
}

// promise: key-in-answer
test.each(Object.entries(FORMS))('an error response with the key %s is shown without the key', async (_form, text) => {
  const api = await open(403, `{"message":"no good: ${text}","code":"${text}","request_id":"${text}"}`)
  const error: unknown = await api.listProjects().catch((thrown: unknown) => thrown)
  expect(String(error)).toContain('no good:')
  expectNoKey(String(error))
})

// promise: key-in-answer
test.each(Object.entries(FORMS))(
  'a response with the key %s is rejected, and the error names the field',
  async (_form, text) => {
    const branch = `{"id":"br-1","name":"my ${text}","default":true}`
    const api = await open(200, `{"branches":[${branch}]}`)
    const error: unknown = await api.listBranches('p').catch((thrown: unknown) => thrown)
    expect(String(error)).toContain("The control API's response contains the API key, in branches.0.name")
    expectNoKey(String(error))
  },
)

test('a response with the key as a property name is rejected at any depth', async () => {
  const deep = `${'{"a":'.repeat(3_000)}{"${KEY}":1}${'}'.repeat(3_000)}`
  const api = await open(200, `{"branches":[],"x":${deep}}`)
  await expect(api.listBranches('p')).rejects.toThrow('contains the API key, in a name in x.a.a')
})

test('the error for a response to a change that contains the key is marked ambiguous', async () => {
  const api = await open(200, `{"operations":[],"x":"${KEY}"}`)
  const request = { method: 'DELETE', path: '/projects/p/endpoints/ep-1' } as const
  await expect(send(api, request)).rejects.toMatchObject({ code: 'E_ANSWER', ambiguous: true })
})

test('a response without the key is unchanged, including backslashes', async () => {
  const api = await open(200, JSON.stringify({ branches: [{ id: 'br-1', name: 'a\\b"c\u0007', default: true }] }))
  expect((await api.listBranches('p'))[0]?.name).toBe('a\\b"c\u0007')
})

test('a short key that occurs in a normal response does not count as a leak', async () => {
  const { port } = await serve((_request, response) => response.end('{"branches":[{"id":"br-1","name":"main"}]}'))
  const api = createReadApi({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'main' })
  onTestFinished(() => api.close())
  expect((await api.listBranches('p'))[0]?.name).toBe('main')
})

test('the key is found and hidden in base64 at any offset', () => {
  const key = fc.stringMatching(/^[!-~]{16,60}$/)
  const around = fc.uint8Array({ maxLength: 20 })
  fc.assert(
    fc.property(key, around, around, fc.constantFrom('base64', 'base64url'), (secret, before, after, encoding) => {
      const text = Buffer.concat([before, Buffer.from(secret), after]).toString(encoding)
      const finder = keyFinder(secret)
      expect(finder.find({ a: [text] }, JSON.stringify(text))).toBe('a.0')
      expect(finder.hide(text)).toContain('[the key]')
    }),
  )
})
