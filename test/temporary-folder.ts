import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Twice the size of the files that all tests leave. */
const ENOUGH_BYTES = 6 * 1024 ** 3

/** A file system in memory, on Linux. Writing and deleting this many small files is slow on a disk. */
const MEMORY = '/dev/shm'

/** Removes all temporary files of the tests, and of the programs that they start, at the end. */
export default function temporaryFolder(): () => void {
  const before = process.env.TMPDIR
  const folder = (before === undefined ? makeIn(MEMORY) : undefined) ?? mkdtempSync(join(tmpdir(), PREFIX))
  // Postgres may run as another user, who needs access.
  chmodSync(folder, 0o755)
  process.env.TMPDIR = folder
  return () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}

const PREFIX = 'espalier-tests-'

/** `undefined` if the folder does not exist, has too little space, or programs cannot run from it. */
const makeIn = (place: string): string | undefined => {
  try {
    const { bavail, bsize } = statfsSync(place)
    if (bavail * bsize < ENOUGH_BYTES) return undefined
    const folder = mkdtempSync(join(place, PREFIX))
    const program = join(folder, 'program')
    try {
      writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
      execFileSync(program)
      return folder
    } catch {
      rmSync(folder, { recursive: true, force: true })
      return undefined
    }
  } catch {
    return undefined
  }
}
