/** Apply journals, one folder per day. */
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

export const DAY_MS = 24 * 60 * 60_000

/** `journals/2026-11-22/020003-quiet-river-12345678-0a1b2c3d4e5f-x7.jsonl` */
export const journalFor = async (
  folder: string,
  project: string,
  version: string,
  at: number,
  random: () => number,
): Promise<string> => {
  const [day = '', time = ''] = new Date(at).toISOString().split('T')
  const place = join(folder, 'journals', day)
  await mkdir(place, { recursive: true, mode: 0o700 })
  const tail = Math.floor(random() * 36 ** 4).toString(36)
  return join(place, `${time.slice(0, 8).replaceAll(':', '')}-${project}-${version.slice(0, 12)}-${tail}.jsonl`)
}

export const removeJournals = async (folder: string, before: number): Promise<void> => {
  const journals = join(folder, 'journals')
  for (const day of await readdir(journals).catch(() => [])) {
    if (Date.parse(day) + DAY_MS < before) await rm(join(journals, day), { recursive: true, force: true })
  }
}
