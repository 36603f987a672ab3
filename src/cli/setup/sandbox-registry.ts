/** Keeps a list of this user's running sandboxes, in which other commands find their addresses and tokens. */
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { isAlive } from '../../base/index.ts'
import type { Io } from './io.ts'

const entryShape = z.strictObject({
  pid: z.int().positive(),
  port: z.int().positive(),
  controlUrl: z.string(),
  controlToken: z.string(),
})
export type RegisteredSandbox = z.output<typeof entryShape>

const ENTRY_NAME = /^\d{1,5}\.json$/
/** Entries are far shorter than this, so a longer file was not written by `register`. */
const MAX_ENTRY_BYTES = 4_096

/** The folder with the entries. Its name contains the numeric user id, because a user may have no name. */
const folder = ({ env }: Pick<Io, 'env'>): string =>
  join(env.TMPDIR || tmpdir(), `espalier-sandboxes-${process.getuid?.() ?? 'user'}`)

/**
 * Adds an entry that only this user can read.
 *
 * @returns a function that removes the entry, or `undefined` if the folder cannot be written or is not this user's.
 */
export const register = (sandbox: RegisteredSandbox, io: Pick<Io, 'env'>): (() => void) | undefined => {
  const file = join(folder(io), `${sandbox.port}.json`)
  try {
    mkdirSync(folder(io), { recursive: true, mode: 0o700 })
    if (!isOwnFolder(folder(io))) return undefined
    chmodSync(folder(io), 0o700)
    rmSync(file, { force: true })
    writeFileSync(file, JSON.stringify(sandbox), { mode: 0o600, flag: 'wx' })
  } catch {
    // Running the sandbox does not depend on the entry.
    return undefined
  }
  return () => rmSync(file, { force: true })
}

/** The running sandboxes. Removes the entries of sandboxes that have ended, but no other files. */
export const registered = (io: Pick<Io, 'env'>): readonly RegisteredSandbox[] =>
  entryNames(io).flatMap((name) => {
    const file = join(folder(io), name)
    const sandbox = readEntry(file)
    if (sandbox === undefined) return []
    if (isAlive(sandbox.pid)) return [sandbox]
    rmSync(file, { force: true })
    return []
  })

const entryNames = (io: Pick<Io, 'env'>): readonly string[] => {
  try {
    return isOwnFolder(folder(io)) ? readdirSync(folder(io)).filter((name) => ENTRY_NAME.test(name)) : []
  } catch {
    return []
  }
}

/** Whether this user owns the folder. A link is not followed, because it could point to another folder of the user. */
const isOwnFolder = (path: string): boolean => {
  const stat = lstatSync(path)
  return stat.isDirectory() && isOwner(stat.uid)
}

const isOwner = (uid: number): boolean => process.getuid === undefined || uid === process.getuid()

/** `undefined` if the file is not an entry that this user wrote. */
const readEntry = (file: string): RegisteredSandbox | undefined => {
  try {
    const stat = lstatSync(file)
    if (!stat.isFile() || !isOwner(stat.uid) || stat.size > MAX_ENTRY_BYTES) return undefined
    return entryShape.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data
  } catch {
    return undefined
  }
}
