/** The pages of plan and apply, also in a browser, if one is installed. */
import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserPath, openBrowser, openPage, VIEWS, violations } from '../../scripts/screenshots/browser.ts'
import { makePages, type Pages } from '../../scripts/screenshots/run.ts'

const path = browserPath()

let folder: string
let pages: Pages
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

describe.skipIf(path === undefined)('the HTML pages in a browser (skipped without Chromium)', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser(path ?? '')
  })
  afterAll(() => browser.close())

  const all = VIEWS.flatMap((view) => (['plan', 'apply'] as const).map((name) => [name, view.name, view] as const))

  test.each(all)('the %s page fits the screen (%s) and loads nothing', async (name, _view, view) => {
    const { page, context, complaints } = await openPage(browser, pages[name], view)
    const [wide = 0, screen = 0] = await page.evaluate<number[]>('[document.documentElement.scrollWidth, innerWidth]')
    expect(wide).toBeLessThanOrEqual(screen)
    expect(complaints).toEqual([])
    await context.close()
  })

  test.each(all)('the %s page has no accessibility violations (%s)', async (name, _view, view) => {
    const { page, context } = await openPage(browser, pages[name], view, { anyPolicy: true })
    expect(await violations(page)).toEqual([])
    await context.close()
  })

  const [desktop] = VIEWS
  if (desktop === undefined) throw new Error('no view')

  test('are complete without scripts and show no filter', async () => {
    const { page, context } = await openPage(browser, pages.plan, desktop, { script: false })
    expect(await page.locator('.change').count()).toBe(9)
    expect(await page.locator('.change:visible').count()).toBe(9)
    expect(await page.getByLabel('impact').isVisible()).toBe(false)
    await context.close()
  })

  test('can be used with the keyboard alone', async () => {
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
