/** Reads the manifests that a command line names, where `-` means stdin. */

import { EspalierError, readBounded } from '../../base/index.ts'
import { MAX_FILE_BYTES, parseManifests } from '../../manifest/index.ts'
import {
  fileNotes,
  type Manifests,
  type ReviewSettings,
  readManifests as readFiles,
  withPolicies,
  withReview,
} from '../../workflow/index.ts'
import { STDIN } from '../command.ts'
import { print } from '../terminal/terminal.ts'
import { usageError } from './flags.ts'
import type { Io } from './io.ts'

interface ReadFlags {
  /** The value of `--sandbox`, which is empty if it has none. */
  readonly sandbox?: string | undefined
  /** The paths of additional policy files. */
  readonly policy?: readonly string[] | undefined
}

interface ReviewFlags extends ReadFlags, ReviewSettings {
  /** A git ref. The policies in its commit apply too. */
  readonly base?: string | undefined
}

/**
 * Reads files, directories, globs, or `-` for stdin. By default, reads the manifests in the current folder.
 *
 * @throws {EspalierError} if there are no manifests.
 */
export const readManifests = async (
  given: readonly string[],
  io: Io,
  { sandbox, policy }: ReadFlags = {},
): Promise<Manifests> => withSandboxHint(await readAll(given, io, policy), given, sandbox)

/**
 * Reads manifests with the settings for their review.
 *
 * @throws {EspalierError} if there are no manifests, or the settings are invalid.
 */
export const readReviewed = async (given: readonly string[], io: Io, flags: ReviewFlags): Promise<Manifests> => {
  const hasBase = flags.base !== undefined
  if (hasBase && given.includes(STDIN))
    throw usageError('--base compares files with git, so it cannot be combined with - (stdin).')
  return withReview(await readManifests(given, io, flags), flags, { ...io, hasBase })
}

/** `--sandbox DIR` reads DIR as the path of a manifest, because the value of `--sandbox` is optional. */
const withSandboxHint = (manifests: Manifests, given: readonly string[], sandbox: string | undefined): Manifests => {
  if (sandbox !== '') return manifests
  const { loaded } = manifests
  const diagnostics = loaded.diagnostics.map((diagnostic) => {
    const path = given.find((one) => diagnostic.message.includes(one))
    if (path === undefined || !NOT_MANIFESTS.has(diagnostic.code)) return diagnostic
    return { ...diagnostic, hint: `If ${path} is the sandbox's folder or seed, write: --sandbox=${path}` }
  })
  return { ...manifests, loaded: { ...loaded, diagnostics } }
}

const NOT_MANIFESTS: ReadonlySet<string> = new Set(['E_NOT_FOUND', 'E_NO_MANIFESTS'])

/** Waits for manifests that may not exist. Returns `undefined` if there are none. */
export const ifAny = (reading: Promise<Manifests>): Promise<Manifests | undefined> =>
  reading.catch((error: unknown) => {
    if (error instanceof EspalierError && error.code === 'E_NO_MANIFESTS') return undefined
    throw error
  })

const readAll = async (given: readonly string[], io: Io, policyPaths: readonly string[] = []): Promise<Manifests> => {
  if (!given.includes(STDIN)) {
    const manifests = await readFiles(given, { cwd: io.cwd, policyPaths })
    for (const note of fileNotes(manifests)) print(note, io.stderr)
    return manifests
  }
  const text = await readStdin(given, io)
  const loaded = parseManifests([{ path: STDIN, text }])
  return withPolicies({ loaded, paths: given }, io.cwd, policyPaths)
}

/**
 * Reads stdin, which `-` stands for.
 *
 * @throws {EspalierError} `E_USAGE` if there are other paths or stdin is a terminal, `E_TOO_LARGE` if it is too large.
 */
export const readStdin = async (paths: readonly string[], { stdin }: Io): Promise<string> => {
  if (paths.length > 1) throw usageError('- (stdin) cannot be combined with other paths.')
  if (stdin.isTTY === true) throw usageError('- reads manifests from stdin, but nothing is piped in.')
  return readBounded(stdin, MAX_FILE_BYTES).catch((cause: Error) => {
    throw new EspalierError('E_TOO_LARGE', `The manifest on stdin cannot be read: ${cause.message}.`, {
      hint: 'Put each project in a separate file.',
      cause,
    })
  })
}
