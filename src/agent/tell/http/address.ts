/** Parses the addresses that the agent listens on. */
import { EspalierError } from '../../../base/index.ts'

export interface ListenAddress {
  readonly host: string
  /** 0 stands for any free port. */
  readonly port: number
}

const DEFAULT_LISTEN = '127.0.0.1:7790'

const ADDRESS = /^(?:\[(?<six>[\da-f:.]+)\]|(?<host>[\w.-]+)):(?<port>\d{1,5})$/i

/**
 * Parses an address such as `127.0.0.1:7790` or `[::1]:7790`.
 *
 * @throws {EspalierError} `E_USAGE`
 */
export const parseListenAddress = (text: string, flag: string): ListenAddress => {
  const { six, host = six, port } = ADDRESS.exec(text)?.groups ?? {}
  if (host === undefined || Number(port) > 65_535) {
    throw new EspalierError('E_USAGE', `${flag} ${text} is not a valid address and port.`, {
      hint: `For example: ${flag} ${DEFAULT_LISTEN}, or [::1]:7790 for IPv6.`,
    })
  }
  return { host, port: Number(port) }
}

/** Whether the address can be reached only from this machine. */
export const isLoopback = (host: string): boolean => /^(localhost|::1|127(\.\d{1,3}){3})$/i.test(host)
