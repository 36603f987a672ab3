/** Creates X.509 certificates (RFC 5280) for the sandbox, because Node can sign and read them, but not create them. */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

// Encodes the DER values (ITU-T X.690) that certificates need.

const value = (tag: number, contents: Buffer): Buffer => Buffer.concat([Buffer.of(tag), lengthOf(contents), contents])

const lengthOf = ({ length }: Buffer): Buffer => {
  if (length < 0x80) return Buffer.of(length)
  const bytes = length < 0x100 ? [length] : [length >> 8, length & 0xff]
  return Buffer.of(0x80 | bytes.length, ...bytes)
}

const sequence = (...parts: readonly Buffer[]): Buffer => value(0x30, Buffer.concat(parts))

const set = (...parts: readonly Buffer[]): Buffer => value(0x31, Buffer.concat(parts))

const TRUE = value(0x01, Buffer.of(0xff))

/** @param bytes a non-negative number, with the most significant byte first. */
export const integer = (bytes: Buffer): Buffer => {
  const start = bytes.findIndex((byte) => byte !== 0)
  const significant = start < 0 ? Buffer.of(0) : bytes.subarray(start)
  return value(0x02, (significant[0] ?? 0) < 0x80 ? significant : Buffer.concat([Buffer.of(0), significant]))
}

const bits = (bytes: Buffer): Buffer => value(0x03, Buffer.concat([Buffer.of(0), bytes]))

const octets = (bytes: Buffer): Buffer => value(0x04, bytes)

const text = (text: string): Buffer => value(0x0c, Buffer.from(text))

export const objectId = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return value(0x06, Buffer.from([first * 40 + second, ...rest].flatMap(base128)))
}

const base128 = (number: number): number[] =>
  number < 0x80 ? [number] : [...base128(number >> 7).map((byte) => byte | 0x80), number & 0x7f]

/** Years before 2050 have two digits, and later ones have four (RFC 5280, 4.1.2.5). */
const time = (ms: number): Buffer => {
  const digits = `${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`
  return digits < '2050' ? value(0x17, Buffer.from(digits.slice(2))) : value(0x18, Buffer.from(digits))
}

export interface Certificate {
  /** As PEM. */
  readonly key: string
  /** As PEM. */
  readonly cert: string
}

const DAY_MS = 86_400_000
const VALID_DAYS = 825

const ECDSA_WITH_SHA256 = sequence(objectId('1.2.840.10045.4.3.2'))
const COMMON_NAME = objectId('2.5.4.3')
const BASIC_CONSTRAINTS = objectId('2.5.29.19')
const SUBJECT_ALT_NAME = objectId('2.5.29.17')
/** The tags of names (RFC 5280, 4.2.1.6). */
const DNS_NAME = 0x82
const IP_ADDRESS = 0x87
const LOOPBACK = Buffer.of(127, 0, 0, 1)

/** A self-signed certificate for these hosts and 127.0.0.1. @param now milliseconds since the epoch. */
export const selfSigned = (hosts: readonly string[], now: number): Certificate => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const name = sequence(set(sequence(COMMON_NAME, text('Espalier sandbox'))))
  const names = [...hosts.map((host) => value(DNS_NAME, Buffer.from(host, 'ascii'))), value(IP_ADDRESS, LOOPBACK)]
  const signed = sequence(
    value(0xa0, integer(Buffer.of(2))),
    integer(randomBytes(8)),
    ECDSA_WITH_SHA256,
    name,
    sequence(time(now - DAY_MS), time(now + VALID_DAYS * DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    value(
      0xa3,
      sequence(
        sequence(BASIC_CONSTRAINTS, TRUE, octets(sequence(TRUE))),
        sequence(SUBJECT_ALT_NAME, octets(sequence(...names))),
      ),
    ),
  )
  const certificate = sequence(signed, ECDSA_WITH_SHA256, bits(sign('sha256', signed, privateKey)))
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
  }
}
