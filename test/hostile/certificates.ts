/** A private authority, and a certificate of it for this machine. */
import { generateKeyPairSync } from 'node:crypto'
import forge from 'node-forge'

export interface Authority {
  /** PEM, for NODE_EXTRA_CA_CERTS. */
  readonly certificate: string
  readonly server: { readonly key: string; readonly cert: string }
}

export const makeAuthority = (): Authority => {
  const ca = pair()
  const name = [{ name: 'commonName', value: 'An authority of this test' }]
  const root = issue(ca, name, ca, name, [{ name: 'basicConstraints', cA: true }])
  const own = pair()
  const leaf = issue(own, [{ name: 'commonName', value: 'localhost' }], ca, name, [
    {
      name: 'subjectAltName',
      altNames: [
        { type: 2, value: 'localhost' },
        { type: 7, ip: '127.0.0.1' },
      ],
    },
  ])
  return { certificate: root, server: { key: own.privateKey, cert: leaf } }
}

interface Pair {
  readonly publicKey: string
  readonly privateKey: string
}

const pair = (): Pair =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })

type Name = forge.pki.CertificateField[]

const issue = (own: Pair, subject: Name, issuer: Pair, issuerName: Name, extensions: object[]): string => {
  const certificate = forge.pki.createCertificate()
  certificate.publicKey = forge.pki.publicKeyFromPem(own.publicKey)
  certificate.serialNumber = '01'
  certificate.validity.notBefore = new Date(Date.now() - 86_400_000)
  certificate.validity.notAfter = new Date(Date.now() + 86_400_000)
  certificate.setSubject(subject)
  certificate.setIssuer(issuerName)
  certificate.setExtensions(extensions)
  certificate.sign(forge.pki.privateKeyFromPem(issuer.privateKey), forge.md.sha256.create())
  return forge.pki.certificateToPem(certificate)
}
