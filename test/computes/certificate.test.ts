import { createPrivateKey, X509Certificate } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { integer, objectId, selfSigned } from '../../src/sandbox/computes/proxy/certificate.ts'
import { runs } from '../long-runs.ts'

const NOW = Date.UTC(2026, 0, 15, 12, 30)

test('a certificate is self-signed, covers its hosts and 127.0.0.1, and has its own key and serial number', () => {
  const { key, cert } = selfSigned(['localhost', '*.compute.test'], NOW)
  const read = new X509Certificate(cert)
  expect(read.checkHost('localhost')).toBe('localhost')
  expect(read.checkHost('ep-1.compute.test')).toBe('*.compute.test')
  expect(read.checkHost('example.com')).toBeUndefined()
  expect(read.checkIP('127.0.0.1')).toBe('127.0.0.1')
  expect(read.ca).toBe(true)
  expect(read.checkIssued(read) && read.verify(read.publicKey)).toBe(true)
  expect(read.checkPrivateKey(createPrivateKey(key))).toBe(true)
  expect(read.subject).toBe('CN=Espalier sandbox')
  expect(new X509Certificate(selfSigned(['localhost'], NOW).cert).serialNumber).not.toBe(read.serialNumber)
})

test.each([2026, 2048, 2075])(
  'a certificate created in %i is valid from the day before until 825 days later',
  (year) => {
    const now = Date.UTC(year, 5, 1, 10, 20, 30)
    const { validFrom, validTo } = new X509Certificate(selfSigned(['localhost'], now).cert)
    expect([validFrom, validTo].map((text) => Date.parse(text))).toEqual([now - 86_400_000, now + 825 * 86_400_000])
  },
)

test.each([
  [[0], '020100'],
  [[0, 1], '020101'],
  [[0x7f], '02017f'],
  [[0x80], '02020080'],
  [[0, 0x80, 1], '0203008001'],
])('the integer %j is encoded in as few bytes as possible and as a non-negative number', (bytes, hex) => {
  expect(integer(Buffer.from(bytes)).toString('hex')).toBe(hex)
})

test('object ids are encoded as RFC 5280 requires', () => {
  expect(objectId('2.5.29.17').toString('hex')).toBe('0603551d11')
  expect(objectId('1.2.840.10045.4.3.2').toString('hex')).toBe('06082a8648ce3d040302')
})

test("Node reads back a certificate's host names, however many there are", () => {
  const host = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}\.test$/)
  fc.assert(
    fc.property(fc.array(host, { minLength: 1, maxLength: 200 }), (hosts) => {
      const { subjectAltName } = new X509Certificate(selfSigned(hosts, NOW).cert)
      expect(subjectAltName).toBe([...hosts.map((name) => `DNS:${name}`), 'IP Address:127.0.0.1'].join(', '))
    }),
    { numRuns: runs(100) },
  )
})
