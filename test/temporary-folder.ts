import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Whatever tests and the programs that they start put into the folder for temporary files is gone afterwards. */
export default function temporaryFolder(): () => void {
  const before = process.env.TMPDIR
  const folder = mkdtempSync(join(tmpdir(), 'espalier-tests-'))
  // Postgres may run as another user, who must get through.
  chmodSync(folder, 0o755)
  process.env.TMPDIR = folder
  return () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}
