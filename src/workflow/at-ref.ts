/** The manifests as they are at a commit, read as blobs: nothing is checked out and nothing of the commit is run. */
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join, posix } from 'node:path'
import { loadManifests } from '../manifest/index.ts'
import { EspalierError } from '../model/index.ts'
import { commitOf, git } from './git.ts'
import type { Manifests } from './manifests.ts'

const YAML = /\.ya?ml$/
const GLOB = /[*?[\]{}!]/
/** Of a blob that is a plain file; links are left out, since they may lead anywhere. */
const PLAIN_FILE = /^100(644|755)$/

/**
 * The same paths at `ref`. What was not there yet is left out, without a word: to a pull request a new file is new.
 *
 * @param cwd what the paths are relative to; within a git repository.
 * @throws {EspalierError} `E_GIT` where there is no repository or no such commit.
 */
export const manifestsAt = async (
  ref: string,
  { paths, sizeTable }: Manifests,
  cwd = process.cwd(),
): Promise<Manifests> => {
  const outside = paths.find((path) => isAbsolute(path) || posix.normalize(path).startsWith('..'))
  if (outside !== undefined) {
    throw new EspalierError('E_GIT', `${outside} leads out of the current folder, so it cannot be read at ${ref}.`, {
      hint: 'Name paths below the current folder.',
    })
  }
  const commit = await commitOf(cwd, ref)
  const folder = mkdtempSync(join(tmpdir(), 'espalier-base-'))
  try {
    await writeTree(cwd, commit, folder)
    const known = paths.filter((path) => GLOB.test(path) || statSync(join(folder, path), { throwIfNoEntry: false }))
    const options = sizeTable === undefined ? {} : { sizeTable }
    return { loaded: await loadManifests(known, { cwd: folder, ...options }), paths: known, ...options }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Every YAML file below the current folder, as it is at the commit. */
const writeTree = async (cwd: string, commit: string, folder: string): Promise<void> => {
  const listed = (await git(cwd, ['ls-tree', '-r', '-z', commit, '.'])).toString()
  const files = listed
    .split('\0')
    .map((line) => /^(\d+) blob ([0-9a-f]+)\t(.+)$/s.exec(line))
    .flatMap((match) => {
      const [, mode = '', id = '', path = ''] = match ?? []
      return PLAIN_FILE.test(mode) && YAML.test(path) ? [{ id, path }] : []
    })
  if (files.length === 0) return
  const blobs = await git(cwd, ['cat-file', '--batch'], `${files.map(({ id }) => id).join('\n')}\n`)
  let at = 0
  for (const { path } of files) {
    const lineEnd = blobs.indexOf('\n', at)
    const size = Number(blobs.toString('utf8', at, lineEnd).split(' ')[2])
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, blobs.subarray(lineEnd + 1, lineEnd + 1 + size))
    at = lineEnd + 1 + size + 1
  }
}
