/** The proxy parses Postgres' protocol correctly, however the bytes are split into chunks. */
import { once } from 'node:events'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { ConnectionError } from '../../src/sandbox/computes/computes.ts'
import { ConnectionLog } from '../../src/sandbox/computes/connection-log.ts'
import { selfSigned } from '../../src/sandbox/computes/proxy/certificate.ts'
import {
  asFullDisk,
  encodeStartup,
  errorResponse,
  readFirstMessage,
  ServerMessages,
  takeEndpoint,
  targetOf,
} from '../../src/sandbox/computes/proxy/messages.ts'
import { startProxy } from '../../src/sandbox/computes/proxy/proxy.ts'
import { isSecretOf, ScramClient, ScramServer } from '../../src/sandbox/computes/proxy/scram.ts'

const word = fc.stringMatching(/^[a-z_]{1,12}$/)
const parameters = fc.dictionary(word, fc.stringMatching(/^[ -~]{1,30}$/), { noNullPrototype: true })

test('a startup message is parsed once all of its bytes have arrived', () => {
  fc.assert(
    fc.property(parameters, fc.nat(), (given, cut) => {
      const bytes = encodeStartup({ version: 196_608, parameters: new Map(Object.entries(given)) })
      expect(readFirstMessage(bytes.subarray(0, cut % bytes.length))).toBeUndefined()
      expect(readFirstMessage(Buffer.concat([bytes, Buffer.from('rest')]))).toEqual({
        message: { kind: 'startup', version: 196_608, parameters: new Map(Object.entries(given)) },
        length: bytes.length,
      })
    }),
  )
})

test('readFirstMessage does not throw on any input', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(() => readFirstMessage(Buffer.from(bytes))).not.toThrow()
    }),
  )
})

test.each([
  ['endpoint=ep-a', 'ep-a', undefined],
  ['endpoint=ep-a -c work_mem=1MB', 'ep-a', '-c work_mem=1MB'],
  ['-c work_mem=1MB endpoint=ep-a', 'ep-a', '-c work_mem=1MB'],
  ['-c work_mem=1MB', undefined, '-c work_mem=1MB'],
])('from the options "%s", takeEndpoint extracts the compute %s and keeps %s', (options, endpoint, rest) => {
  const taken = takeEndpoint({ kind: 'startup', version: 196_608, parameters: new Map([['options', options]]) })
  expect([taken.endpoint, taken.startup.parameters.get('options')]).toEqual([endpoint, rest])
})

test.each([
  ['ep-cool-dawn-a1b2c3d4', { computeId: 'ep-cool-dawn-a1b2c3d4', pooled: false }],
  ['ep-cool-dawn-a1b2c3d4-pooler', { computeId: 'ep-cool-dawn-a1b2c3d4', pooled: true }],
])('targetOf(%s) returns %o', (name, wanted) => {
  expect(targetOf(name)).toEqual(wanted)
})

const message = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5)
  head.write(type, 'latin1')
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}
const messages = fc.array(
  fc.oneof(
    fc.tuple(fc.constantFrom('D', 'T', 'C', 'Z', 'S', 'R'), fc.uint8Array({ maxLength: 80 })),
    fc.tuple(fc.constant('K'), fc.uint8Array({ minLength: 8, maxLength: 8 })),
    fc.tuple(fc.constant('E'), fc.uint8Array({ maxLength: 80 })),
  ),
  { maxLength: 30 },
)

/** The output, and the messages that were inspected. */
const pass = async (chunks: readonly Buffer[]) => {
  const seen: string[] = []
  const stream = new ServerMessages((type, whole) => {
    seen.push(whole.toString('hex'))
    expect(type).toBe(whole[0])
    return whole
  })
  const out: Buffer[] = []
  stream.on('data', (chunk: Buffer) => out.push(Buffer.from(chunk)))
  for (const chunk of chunks) stream.write(chunk)
  stream.end()
  await once(stream, 'end')
  return { bytes: Buffer.concat(out).toString('hex'), seen }
}

test('server messages are forwarded unchanged, and every error and cancel key is inspected', async () => {
  await fc.assert(
    fc.asyncProperty(messages, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), async (said, cuts) => {
      const whole = said.map(([type, body]) => message(type, Buffer.from(body)))
      const bytes = Buffer.concat(whole)
      const chunks: Buffer[] = []
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const length = cuts[turn % cuts.length] ?? 1
        chunks.push(bytes.subarray(at, at + length))
        at += length
      }
      const passed = await pass(chunks)
      expect(passed.bytes).toBe(bytes.toString('hex'))
      expect(passed.seen).toEqual(
        whole.filter((one) => 'EK'.includes(String.fromCharCode(one[0] ?? 0))).map((one) => one.toString('hex')),
      )
    }),
  )
})

test('only errors caused by a full temporary disk are reported as a full disk', () => {
  const type = 'E'.charCodeAt(0)
  const limit = errorResponse(
    { code: '53400', message: 'temporary file size exceeds temp_file_limit (20480kB)' },
    'ERROR',
  )
  const never = (): boolean => false
  expect(asFullDisk(type, limit, never).toString()).toContain(
    'C53100\0Mcould not write to file "base/pgsql_tmp": No space left on device',
  )
  const other = errorResponse({ code: '53300', message: 'too many clients already' })
  expect(asFullDisk(type, other, () => true)).toBe(other)
  const cancelled = errorResponse({ code: '57014', message: 'canceling statement due to user request' }, 'ERROR')
  expect(asFullDisk(type, cancelled, never)).toBe(cancelled)
  expect(asFullDisk(type, cancelled, () => true).toString()).toContain('C53100')
})

test('a compute that is shut accepts no connections on its port, and no pooled ones either', async () => {
  const proxy = await startProxy(
    {
      reach: () => Promise.reject(new ConnectionError('57P03', 'not reached')),
      certificate: () => selfSigned(['localhost'], Date.now()),
      isDiskFull: () => false,
      log: new ConnectionLog(),
      reservedRole: 'supervisor',
      onBug: () => undefined,
      secretOf: async () => undefined,
    },
    {},
  )
  onTestFinished(() => proxy.close())
  const [own, pooled, other] = [await proxy.open('ep-a'), await proxy.open('ep-a-pooler'), await proxy.open('ep-b')]
  proxy.shut('ep-a')
  await expect.poll(() => [own, pooled, other].map((port) => proxy.isOwn(port))).toEqual([false, false, true])
})

// promise: channel-binding
test('a login that is bound to another certificate, or to none, is rejected', () => {
  const secret = {
    iterations: '4096',
    salt: 'c2FsdA==',
    storedKey: Buffer.alloc(32, 1),
    serverKey: Buffer.alloc(32, 2),
  }
  const client = new ScramClient()
  const server = new ScramServer(secret, client.first.slice('n,,'.length), Buffer.from('certificate'))
  expect(server.accept(client.final(server.first, Buffer.alloc(32, 3)))).toBeUndefined()
  expect(server.accept('')).toBeUndefined()
  expect(server.accept('c=,r=,p=')).toBeUndefined()
})

test('a secret whose check would take an hour is not that of a known password', () => {
  expect(isSecretOf('SCRAM-SHA-256$2000000000:c2FsdA==$AQ==:AQ==', 'password')).toBe(false)
})
