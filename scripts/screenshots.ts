/** Takes screenshots of HTML pages from a real run, for docs/images: `npm run screenshots`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withAgentPage } from './screenshots/agent.ts'
import { browserPath, openBrowser, openPage, VIEWS, type View, violations } from './screenshots/browser.ts'
import { makePages } from './screenshots/run.ts'

const path = browserPath()
if (path === undefined) {
  console.error('Chromium was not found. Install it (Debian: apt install chromium), or set CHROMIUM to its path.')
  process.exit(1)
}
const HEIGHT = 1_500
const folder = mkdtempSync(join(tmpdir(), 'espalier-screenshots-'))
const pages = await makePages(folder)
const browser = await openBrowser(path)
const picture = async (name: string, address: string, isShown: (view: View) => boolean): Promise<void> => {
  for (const view of VIEWS.filter(isShown)) {
    const { page, context } = await openPage(browser, address, view, { anyPolicy: true })
    const path = `docs/images/${name}-${view.name}.png`
    // Capture only the top of the page, so that the image in the docs is not too tall.
    await page.screenshot({ path, clip: { x: 0, y: 0, width: view.width, height: HEIGHT }, fullPage: true })
    const found = await violations(page)
    console.log(`${path}  ${found.length === 0 ? 'no accessibility violation' : found.join('\n')}`)
    if (found.length > 0) process.exitCode = 1
    await context.close()
  }
}
await picture('plan', pages.plan, ({ name }) => name.startsWith('desktop'))
await withAgentPage((url) => picture('agent', url, ({ name }) => name.startsWith('desktop')))
await browser.close()
rmSync(folder, { recursive: true })
