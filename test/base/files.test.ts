import { chmod, lstat, mkdtemp, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openJournal } from '../../src/apply/index.ts'
import { isInside, PRIVATE, readBoundedFile, readIfExists, replaceFile } from '../../src/base/index.ts'
import { openPageOf } from '../../src/cli/terminal/page-file.ts'
import { fakeIo } from '../in-process.ts'

// promise: dotted-names
test.each([
  ['/a', '/a', true],
  ['/a', '/a/b', true],
  ['/a', '/a/..data/shared.yaml', true],
  ['/a', '/a/...', true],
  ['/a', '/a/b/../c', true],
  ['/', '/etc', true],
  ['/a', '/ab', false],
  ['/a', '/', false],
  ['/a', '/a/..', false],
  ['/a', '/a/../b', false],
  ['/a/b', '/a/c', false],
])('isInside(%j, %j) is %s', (folder, path, inside) => {
  expect(isInside(folder, path)).toBe(inside)
})

const folder = (): Promise<string> => mkdtemp(join(tmpdir(), 'espalier-files-'))
const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777

test('readIfExists returns nothing for a missing file, but fails for one that cannot be read', async () => {
  const at = await folder()
  expect(await readIfExists(join(at, 'none'))).toBeUndefined()
  await expect(readIfExists(at)).rejects.toMatchObject({ code: 'EISDIR' })
  await writeFile(join(at, 'long'), 'x'.repeat(11))
  await expect(readIfExists(join(at, 'long'), 10)).rejects.toThrow('it is larger than')
})

test('replaceFile writes the whole file and leaves no temporary file behind', async () => {
  const cwd = await folder()
  const file = join(cwd, 'plan.json')
  await replaceFile(file, 'one', 'The plan', PRIVATE)
  await replaceFile(file, 'two', 'The plan', PRIVATE)
  expect(await readFile(file, 'utf8')).toBe('two')
  expect(await readdir(cwd)).toEqual(['plan.json'])
})

// promise: private-files
test('replaceFile makes a private file readable by its owner only, even if others could read it before', async () => {
  const file = join(await folder(), 'plan.json')
  await writeFile(file, '')
  await chmod(file, 0o666)
  await replaceFile(file, 'x', 'The plan', PRIVATE)
  expect(await modeOf(file)).toBe(0o600)
})

test('replaceFile keeps the mode of an existing file that is not private', async () => {
  const file = join(await folder(), 'a.yaml')
  await writeFile(file, '')
  await chmod(file, 0o664)
  await replaceFile(file, 'x', 'The manifest')
  expect([await modeOf(file), await readFile(file, 'utf8')]).toEqual([0o664, 'x'])
})

// promise: write-through-link
test.each([
  ['a file', 'there'],
  ['no file', 'missing'],
  ['itself', 'plan.json'],
])('no function that writes files writes through a link to %s', async (_what, target) => {
  const cwd = await folder()
  const link = join(cwd, 'plan.json')
  await writeFile(join(cwd, 'there'), 'mine')
  await symlink(target, link)
  await expect(replaceFile(link, 'x', 'The plan')).rejects.toThrow('it is a symbolic link')
  await expect(openJournal(link)).rejects.toThrow('it is a symbolic link')
  await expect(openPageOf({ html: link }, fakeIo({ cwd }).io)).rejects.toThrow('it is a symbolic link')
  expect(await readdir(cwd)).toEqual(['plan.json', 'there'])
  expect(await readFile(join(cwd, 'there'), 'utf8')).toBe('mine')
})

test('replaceFile writes through a link to a pipe or a device, such as /dev/stdout', async () => {
  const link = join(await folder(), 'out')
  await symlink('/dev/null', link)
  await replaceFile(link, 'x', 'The plan')
  expect((await lstat(link)).isSymbolicLink()).toBe(true)
})

test('replaceFile fails with an error that names the file if it cannot be written', async () => {
  await expect(replaceFile('/nowhere/x', '', 'The plan')).rejects.toThrow(
    'The plan cannot be written to /nowhere/x (ENOENT).',
  )
})

test('readBoundedFile stops at its size limit', async () => {
  const file = join(await folder(), 'long')
  await writeFile(file, 'x'.repeat(2 * 1024 * 1024))
  expect(await readBoundedFile(file, 2 * 1024 * 1024)).toHaveLength(2 * 1024 * 1024)
  await expect(readBoundedFile(file, 1024 * 1024)).rejects.toThrow('it is larger than 1 MiB')
})
