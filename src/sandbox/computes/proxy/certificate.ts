/** Creates X.509 certificates (RFC 5280) for the sandbox, because Node can sign and read them, but not create them. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

// Encodes the DER values (ITU-T X.690) that certificates need.

const value = (tag: number, contents: Buffer): Buffer => Buffer.concat([Buffer.of(tag), lengthOf(contents), contents])

const lengthOf = ({ length }: Buffer): Buffer => {
  if (length < 0x80) return Buffer.of(length)
  const bytes = length < 0x100 ? [length] : [length >> 8, length & 0xff]
  return Buffer.of(0x80 | bytes.length, ...bytes)
}

const sequence = (...parts: readonly Buffer[]): Buffer => value(0x30, Buffer.concat(parts))

const set = (...parts: readonly Buffer[]): Buffer => value(0x31, Buffer.concat(parts))

const boolean = (is: boolean): Buffer => value(0x01, Buffer.of(is ? 0xff : 0))

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

const explicit = (tag: number, contents: Buffer): Buffer => value(0xa0 | tag, contents)

const implicit = (tag: number, contents: Buffer): Buffer => value(0x80 | tag, contents)

export interface Certificate {
  /** As PEM. */
  readonly key: string
  /** As PEM. */
  readonly cert: string
}

interface Issuer {
  readonly name: string
  readonly privateKey: KeyObject
}

interface Contents {
  readonly subject: string
  readonly publicKey: KeyObject
  /** DNS names, in addition to 127.0.0.1. The first label may be `*`. */
  readonly hosts: readonly string[]
  /** Whether the certificate may sign other certificates and itself. */
  readonly isAuthority: boolean
  readonly from: number
  readonly to: number
}

const DAY_MS = 86_400_000
const VALID_DAYS = 825

const ECDSA_WITH_SHA256 = sequence(objectId('1.2.840.10045.4.3.2'))
const COMMON_NAME = objectId('2.5.4.3')
const BASIC_CONSTRAINTS = objectId('2.5.29.19')
const SUBJECT_ALT_NAME = objectId('2.5.29.17')
const DNS_NAME = 2
const IP_ADDRESS = 7

export const newKeys = (): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } =>
  generateKeyPairSync('ec', { namedCurve: 'prime256v1' })

/** A self-signed certificate for these hosts and 127.0.0.1. @param now milliseconds since the epoch. */
export const selfSigned = (hosts: readonly string[], now: number): Certificate => {
  const { publicKey, privateKey } = newKeys()
  const subject = 'Espalier sandbox'
  const validity = { from: now - DAY_MS, to: now + VALID_DAYS * DAY_MS }
  const contents: Contents = { subject, publicKey, hosts, isAuthority: true, ...validity }
  return { key: pemOf(privateKey), cert: issue(contents, { name: subject, privateKey }) }
}

/** Returns the certificate as PEM. The issuer's key must have been created by {@link newKeys}. */
export const issue = (
  { subject, publicKey, hosts, isAuthority, from, to }: Contents,
  { name, privateKey }: Issuer,
): string => {
  const serial = randomBytes(8)
  const extensions = [
    ...(isAuthority ? [sequence(BASIC_CONSTRAINTS, boolean(true), octets(sequence(boolean(true))))] : []),
    ...(hosts.length === 0
      ? []
      : [
          sequence(
            SUBJECT_ALT_NAME,
            octets(
              sequence(
                ...hosts.map((host) => implicit(DNS_NAME, Buffer.from(host, 'ascii'))),
                implicit(IP_ADDRESS, Buffer.of(127, 0, 0, 1)),
              ),
            ),
          ),
        ]),
  ]
  const signed = sequence(
    explicit(0, integer(Buffer.of(2))),
    integer(serial),
    ECDSA_WITH_SHA256,
    nameOf(name),
    sequence(time(from), time(to)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensions)),
  )
  const certificate = sequence(signed, ECDSA_WITH_SHA256, bits(sign('sha256', signed, privateKey)))
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}

const nameOf = (commonName: string): Buffer => sequence(set(sequence(COMMON_NAME, text(commonName))))

export const pemOf = (privateKey: KeyObject): string => privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
