/** The pages of `plan --html` and `apply --html`. test/long/pages.test.ts opens them in a browser. */
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { makePages, type Pages } from '../../scripts/screenshots/run.ts'
import { espalier } from './espalier.ts'

let pages: Pages
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'espalier-pages-'))
  pages = await makePages(folder)
})

test('plan --html and apply --html write complete pages and no other file', async () => {
  expect((await readdir(folder)).sort()).toEqual(['apply.html', 'plan.html'])
  expect(await readFile(pages.plan, 'utf8')).toMatch(
    /^<!doctype html>[\s\S]*Plan: 3 to create, 4 to update, 1 to move, 1 to delete\.[\s\S]*<\/html>\n$/,
  )
  const applied = await readFile(pages.apply, 'utf8')
  expect(applied).toMatch(
    /^<!doctype html>[\s\S]*Apply incomplete: 7 done, 1 failed, 1 not allowed\.[\s\S]*<\/html>\n$/,
  )
  expect(applied).toContain('no host had room')
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
