import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What all tests leave together, and as much again. */
const ENOUGH_BYTES = 6 * 1024 ** 3

/** Linux: memory as a file system. To write and to remove so many small files keeps a disk busy. */
const MEMORY = '/dev/shm'

/** Whatever tests and the programs that they start put into the folder for temporary files is removed afterwards. */
export default function temporaryFolder(): () => void {
  const before = process.env.TMPDIR
  const folder = (before === undefined ? makeIn(MEMORY) : undefined) ?? mkdtempSync(join(tmpdir(), PREFIX))
  // Postgres may run as another user, who must get through.
  chmodSync(folder, 0o755)
  process.env.TMPDIR = folder
  return () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}

const PREFIX = 'espalier-tests-'

/** `undefined` where there is no such place, too little room in it, or no program may be run from it. */
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
