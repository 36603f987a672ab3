/** A certificate for 127.0.0.1 and every host name of the sandbox, signed by itself. */
import { generateKeyPairSync } from 'node:crypto'
import forge from 'node-forge'

export interface Certificate {
  readonly key: string
  readonly cert: string
}

const DAY_MS = 86_400_000
const VALID_DAYS = 825

/** @param hosts names it is for; `*` may stand for the first label. */
export const selfSigned = (hosts: readonly string[], now: number): Certificate => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const certificate = forge.pki.createCertificate()
  certificate.publicKey = forge.pki.publicKeyFromPem(publicKey)
  certificate.serialNumber = '01'
  certificate.validity.notBefore = new Date(now - DAY_MS)
  certificate.validity.notAfter = new Date(now + VALID_DAYS * DAY_MS)
  const subject = [{ name: 'commonName', value: 'Espalier sandbox' }]
  certificate.setSubject(subject)
  certificate.setIssuer(subject)
  certificate.setExtensions([
    { name: 'basicConstraints', cA: true },
    {
      name: 'subjectAltName',
      altNames: [...hosts.map((value) => ({ type: 2, value })), { type: 7, ip: '127.0.0.1' }],
    },
  ])
  certificate.sign(forge.pki.privateKeyFromPem(privateKey), forge.md.sha256.create())
  return { key: privateKey, cert: forge.pki.certificateToPem(certificate) }
}
