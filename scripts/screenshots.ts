/** Makes the pictures of the pages in docs/images, from a real run: `npm run screenshots`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { browserPath, openBrowser, openPage, VIEWS, violations } from './screenshots/browser.ts'
import { makePages } from './screenshots/run.ts'

const path = browserPath()
if (path === undefined) {
  console.error('No Chromium is here. Install one (Debian: apt install chromium), or name it with CHROMIUM.')
  process.exit(1)
}
const HEIGHT = 1_500
const folder = mkdtempSync(join(tmpdir(), 'espalier-screenshots-'))
const pages = await makePages(folder)
const browser = await openBrowser(path)
for (const [name, file] of Object.entries(pages)) {
  for (const view of VIEWS) {
    const { page, context } = await openPage(browser, file, view, { anyPolicy: true })
    const picture = `docs/images/${name}-${view.name}.png`
    // The top of it: a reader of the docs scrolls less than one of the page.
    await page.screenshot({ path: picture, clip: { x: 0, y: 0, width: view.width, height: HEIGHT }, fullPage: true })
    const found = await violations(page)
    console.log(`${picture}  ${found.length === 0 ? 'no accessibility violation' : found.join('\n')}`)
    if (found.length > 0) process.exitCode = 1
    await context.close()
  }
}
await browser.close()
rmSync(folder, { recursive: true })
