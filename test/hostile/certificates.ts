/** A certificate for this machine that is its own authority. */
import { selfSigned } from '../../src/sandbox/computes/proxy/certificate.ts'

export interface Authority {
  /** PEM, for NODE_EXTRA_CA_CERTS. */
  readonly certificate: string
  readonly server: { readonly key: string; readonly cert: string }
}

export const makeAuthority = (): Authority => {
  const server = selfSigned(['localhost'], Date.now())
  return { certificate: server.cert, server }
}
