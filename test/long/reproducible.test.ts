/** The same commit produces the same bytes, wherever it is built. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { glob } from 'tinyglobby'
import { expect, test } from 'vitest'

/** Builds a copy of this folder. */
const build = async (
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> => {
  mkdirSync(folder, { recursive: true })
  const tracked = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  })
  for (const file of tracked.split('\0').filter(Boolean)) cpSync(file, join(folder, file))
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const npm = (...args: readonly string[]) =>
    execFileSync('npm', args, { cwd: folder, env: { ...process.env, ...env }, stdio: 'pipe' })
  npm('run', 'build:action')
  // Builds dist/ first, and the man page.
  npm('pack')
  const files = await glob(['dist/**', 'action/**', '*.tgz'], { cwd: folder })
  const hash = (file: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, file)))
      .digest('hex')
  return Object.fromEntries(files.sort().map((file) => [file, hash(file)]))
}

// promise: release-build
test('dist/, action/ and the package are identical when built in two folders and locales', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-build-'))
  const one = await build(join(folder, 'a'), { TZ: 'UTC', LC_ALL: 'C' })
  expect(Object.keys(one)).toEqual(
    expect.arrayContaining(['action/index.cjs', 'dist/main.js', expect.stringMatching(/^espalier-.+\.tgz$/)]),
  )
  const elsewhere = join(folder, 'a longer/path to build in')
  expect(await build(elsewhere, { TZ: 'Pacific/Auckland', LC_ALL: 'de_DE.UTF-8', FORCE_COLOR: '1' })).toEqual(one)
})
