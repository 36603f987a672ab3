/** Creates X.509 certificates (RFC 5280) for the sandbox, because Node can sign and read them, but not create them. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { bits, boolean, explicit, implicit, integer, objectId, octets, sequence, set, text, time } from './der.ts'

export interface Certificate {
  /** As PEM. */
  readonly key: string
  /** As PEM. */
  readonly cert: string
}

export interface Issuer {
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
