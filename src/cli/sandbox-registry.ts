/** Where the sandboxes of this user say that they run, so that other commands find them and their tokens. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface RegisteredSandbox {
  readonly pid: number
  readonly port: number
  readonly controlUrl: string
  readonly controlToken: string
}

/** By number: a container's user may have no name. */
const folder = (): string => join(tmpdir(), `espalier-sandboxes-${process.getuid?.() ?? 'user'}`)

/** Readable by this user only. Returns what takes it back. */
export const register = (sandbox: RegisteredSandbox): (() => void) => {
  const file = join(folder(), `${sandbox.port}.json`)
  mkdirSync(folder(), { recursive: true, mode: 0o700 })
  // Somebody else's folder of that name is no place for a token.
  if (!isOurs(folder())) return () => undefined
  writeFileSync(file, JSON.stringify(sandbox), { mode: 0o600 })
  return () => rmSync(file, { force: true })
}

/** Those that still run. */
export const registered = (): readonly RegisteredSandbox[] => {
  let names: readonly string[] = []
  try {
    names = isOurs(folder()) ? readdirSync(folder()) : []
  } catch {
    return []
  }
  return names.flatMap((name) => {
    const sandbox = read(join(folder(), name))
    if (sandbox !== undefined && isAlive(sandbox.pid)) return [sandbox]
    rmSync(join(folder(), name), { force: true })
    return []
  })
}

const isOurs = (path: string): boolean => statSync(path).uid === (process.getuid?.() ?? statSync(path).uid)

const read = (file: string): RegisteredSandbox | undefined => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
