/** The pages of `plan --html` and `apply --html`. test/long/pages.test.ts reads them, and opens them in a browser. */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { espalier } from './espalier.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'espalier-pages-'))
})

test.each([
  ['to stdout', ['plan', '--html', '-'], 'cannot write a page to stdout'],
  ['into a folder that does not exist', ['apply', '--auto-approve', '--html', 'no/where.html'], 'it does not exist'],
])('writing a page %s fails before anything is read', async (_what, args, message) => {
  const { code, stdout, stderr } = await espalier(args, {}, folder)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(message)
})

test('an existing page is kept if the plan fails', async () => {
  const file = join(folder, 'page.html')
  await writeFile(file, 'before')
  await writeFile(join(folder, 'espalier.yaml'), 'version: [1\n')
  expect((await espalier(['plan', '--html', file], {}, folder)).code).toBe(1)
  expect(await readFile(file, 'utf8')).toBe('before')
})
