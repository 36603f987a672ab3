/** Only this user's leftover sandbox folders are removed. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeSocketFolder, removeStale } from '../../src/sandbox/computes/postgres/home.ts'

/** Id of a process that has ended. */
const gone = spawnSync(process.execPath, ['--version']).pid

const place = () => {
  const parent = mkdtempSync(join(tmpdir(), 'stale-'))
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }))
  const stale = join(parent, `espalier-pg-${gone}-abc`)
  /** Makes a folder like that of a sandbox in another process. */
  const makeOwn = (folder: string) => {
    const made = makeSocketFolder()
    cpSync(made, folder, { recursive: true })
    rmSync(made, { recursive: true })
    writeFileSync(join(folder, '.espalier'), basename(folder))
  }
  return { parent, stale, makeOwn }
}

test('removeStale removes the folder of a killed sandbox', () => {
  const { parent, stale, makeOwn } = place()
  makeOwn(stale)
  mkdirSync(join(stale, 'branches'))
  removeStale(parent)
  expect(existsSync(stale)).toBe(false)
})

test('removeStale keeps the folder of a running sandbox', () => {
  const { parent, makeOwn } = place()
  const live = join(parent, `espalier-pg-${process.pid}-abc`)
  makeOwn(live)
  removeStale(parent)
  expect(existsSync(live)).toBe(true)
})

// promise: temporary-folder
test.each<[string, (stale: string) => void]>([
  ['without the mark', (stale) => mkdirSync(stale)],
  [
    "with another folder's mark",
    (stale) => {
      mkdirSync(stale)
      writeFileSync(join(stale, '.espalier'), 'espalier-pg-1-xyz')
    },
  ],
  [
    'whose mark is a link',
    (stale) => {
      mkdirSync(stale)
      writeFileSync(`${stale}.text`, basename(stale))
      symlinkSync(`${stale}.text`, join(stale, '.espalier'))
    },
  ],
  [
    'that is a link itself',
    (stale) => {
      mkdirSync(`${stale}.target`)
      writeFileSync(join(`${stale}.target`, '.espalier'), basename(stale))
      symlinkSync(`${stale}.target`, stale)
    },
  ],
])('removeStale keeps a folder %s', (_what, make) => {
  const { parent, stale } = place()
  make(stale)
  removeStale(parent)
  expect(existsSync(stale)).toBe(true)
})
