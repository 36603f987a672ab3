/** A private certificate authority, and a certificate for this machine that it issued. */
import { issue, newKeys, pemOf } from '../../src/sandbox/computes/proxy/certificate.ts'

export interface Authority {
  /** PEM, for NODE_EXTRA_CA_CERTS. */
  readonly certificate: string
  readonly server: { readonly key: string; readonly cert: string }
}

export const makeAuthority = (): Authority => {
  const [ca, own] = [newKeys(), newKeys()]
  const issuer = { name: 'An authority of this test', privateKey: ca.privateKey }
  const validity = { from: Date.now() - 86_400_000, to: Date.now() + 86_400_000 }
  const root = { subject: issuer.name, publicKey: ca.publicKey, hosts: [], isAuthority: true, ...validity }
  const leaf = {
    subject: 'localhost',
    publicKey: own.publicKey,
    hosts: ['localhost'],
    isAuthority: false,
    ...validity,
  }
  return { certificate: issue(root, issuer), server: { key: pemOf(own.privateKey), cert: issue(leaf, issuer) } }
}
