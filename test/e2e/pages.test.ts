/** `plan --format html` and `apply --report`, made by the program and looked at in a browser if one is installed. */
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserPath, openBrowser, openPage, VIEWS, violations } from '../../scripts/screenshots/browser.ts'
import { makePages, type Pages } from '../../scripts/screenshots/run.ts'
import { part } from '../long-runs.ts'
import { espalier } from './espalier.ts'

let pages: Pages
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'espalier-pages-'))
  pages = await makePages(folder)
})

test('both are complete, and nothing else is written', async () => {
  expect((await readdir(folder)).sort()).toEqual(['apply.html', 'plan.html'])
  expect(await readFile(pages.plan, 'utf8')).toMatch(
    /^<!doctype html>[\s\S]*Plan: 3 to create, 4 to update, 1 to move, 1 to delete\.[\s\S]*<\/html>\n$/,
  )
  const applied = await readFile(pages.apply, 'utf8')
  expect(applied).toMatch(
    /^<!doctype html>[\s\S]*Apply incomplete: 7 done, 1 failed, 1 not allowed\.[\s\S]*<\/html>\n$/,
  )
  // What happened on the way: a lock that was waited for, a create whose answer was lost.
  expect(applied).toContain('no host had room')
  expect(applied).toMatch(/class="wait"/)
})

test.each([
  ['without --out', ['plan', '--format', 'html'], 'needs --out FILE'],
  ['to stdout', ['plan', '--format', 'html', '--out', '-'], 'cannot write to stdout'],
  ['into a folder that is not there', ['apply', '--auto-approve', '--report', 'no/where.html'], 'ENOENT'],
])('%s: told before anything is read', async (_what, args, message) => {
  const { code, stdout, stderr } = await espalier(args, {}, folder)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(message)
})

test('an existing page is replaced, or stays as it is', async () => {
  const file = join(folder, 'page.html')
  await writeFile(file, 'before')
  await writeFile(join(folder, 'espalier.yaml'), 'version: [1\n')
  expect((await espalier(['plan', '--format', 'html', '--out', file], {}, folder)).code).toBe(1)
  expect(await readFile(file, 'utf8')).toBe('before')
})

const path = browserPath()

describe.skipIf(path === undefined)('in a browser (skipped where no Chromium is installed)', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser(path ?? '')
  })
  afterAll(() => browser.close())

  const all = VIEWS.flatMap((view) => (['plan', 'apply'] as const).map((name) => [name, view.name, view] as const))
  // Every third: both pages, sizes and colour schemes.
  const each = part(all, 3)

  test.each(each)(
    '%s at %s: nothing is loaded, nothing complained of, nothing wider than the screen',
    async (name, _view, view) => {
      const { page, context, complaints } = await openPage(browser, pages[name], view)
      const [wide = 0, screen = 0] = await page.evaluate<number[]>('[document.documentElement.scrollWidth, innerWidth]')
      expect(wide).toBeLessThanOrEqual(screen)
      expect(complaints).toEqual([])
      await context.close()
    },
  )

  test.each(each)('%s at %s: no accessibility violation', async (name, _view, view) => {
    const { page, context } = await openPage(browser, pages[name], view, { anyPolicy: true })
    expect(await violations(page)).toEqual([])
    await context.close()
  })

  const [desktop] = VIEWS
  if (desktop === undefined) throw new Error('no view')

  test('without script all of it can be read, and no filter is shown', async () => {
    const { page, context } = await openPage(browser, pages.plan, desktop, { script: false })
    expect(await page.locator('.change').count()).toBe(9)
    expect(await page.locator('.change:visible').count()).toBe(9)
    expect(await page.getByLabel('impact').isVisible()).toBe(false)
    await context.close()
  })

  test('with the keyboard alone: past the head, a filter, a step opened', async () => {
    const { page, context } = await openPage(browser, pages.plan, desktop)
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement?.id')).toBe('main')
    const focused = `(document.activeElement?.labels?.[0] ?? document.activeElement?.closest('summary, button'))?.textContent`
    const reach = async (words: string): Promise<void> => {
      for (let presses = 0; presses < 60; presses += 1) {
        await page.keyboard.press('Tab')
        if ((await page.evaluate<string | undefined>(focused))?.includes(words)) return
      }
      throw new Error(`Tab never reaches ${words}`)
    }
    await reach('impact')
    await page.keyboard.type('restart')
    await expect.poll(() => page.locator('.change:visible').count()).toBe(2)
    await reach('PATCH')
    await page.keyboard.press('Enter')
    expect(await page.locator('details.step[open] pre:visible').count()).toBe(1)
    await context.close()
  })
})
