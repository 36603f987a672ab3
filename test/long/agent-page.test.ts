/** The agent's page in a browser, if one is installed. */
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { browserPath, openBrowser, openPage, VIEWS, violations } from '../../scripts/screenshots/browser.ts'
import { serveAgent } from '../../src/agent/index.ts'
import type { AgentServer } from '../../src/agent/tell/http/serve-agent.ts'
import { FakeControl, project, START } from '../agent/fake-control.ts'
import { EVERY_STATE } from '../agent/views.ts'

const path = browserPath()
const DRIFTED = 'blue-lake-16180339'

describe.skipIf(path === undefined)('the agent page in a browser (skipped without Chromium)', () => {
  const servers: AgentServer[] = []
  let browser: Browser
  let control: FakeControl
  let url: string

  const serve = async (host: string): Promise<string> => {
    const server = await serveAgent(control, {
      listen: { host, port: 0 },
      tokens: { read: { text: 'correct-horse' }, write: { text: 'correct-horse' } },
      now: () => START,
      log: () => undefined,
    })
    servers.push(server)
    return `${server.url.replace('0.0.0.0', '127.0.0.1')}/`
  }
  beforeAll(async () => {
    browser = await openBrowser(path ?? '')
  })
  beforeEach(async () => {
    control = new FakeControl(EVERY_STATE)
    url = await serve('127.0.0.1')
  })
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close()
  })
  afterAll(() => browser.close())

  const [desktop] = VIEWS
  if (desktop === undefined) throw new Error('no view')

  test.each(VIEWS.map((view) => [view.name, view] as const))(
    'fits the screen (%s) without errors or accessibility violations',
    async (_name, view) => {
      const { page, context, complaints } = await openPage(browser, url, view)
      await expect.poll(() => page.locator('#live').textContent()).toBe('Live')
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      expect(complaints).toEqual([])
      await context.close()
      const checked = await openPage(browser, url, view, { anyPolicy: true })
      await checked.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
      expect(await violations(checked.page)).toEqual([])
      await checked.context.close()
    },
  )

  test('updates itself, keeps open details and the focus, and reports a lost connection', async () => {
    const { page, context } = await openPage(browser, url, desktop)
    await expect.poll(() => page.locator('#live').textContent()).toBe('Live')
    await page.locator(`#d-${DRIFTED} summary`).click()
    await page.locator(`#p-${DRIFTED}`).focus()
    control.show([...EVERY_STATE, project('new-one', { state: 'Blocked', reason: 'Conflict' })])
    await expect.poll(() => page.title()).toBe('4 projects need attention · espalier agent')
    expect(await page.locator('#p-new-one').isVisible()).toBe(true)
    expect(await page.locator(`#d-${DRIFTED}[open]`).count()).toBe(1)
    expect(await page.evaluate('document.activeElement?.id')).toBe(`p-${DRIFTED}`)
    expect(await page.locator('.paste button').count()).toBe(await page.locator('.command').count())
    await servers.pop()?.close()
    await expect.poll(() => page.locator('#live').textContent()).toContain('Not connected')
    await context.close()
  })

  test('is complete without scripts', async () => {
    const { page, context } = await openPage(browser, url, desktop, { script: false })
    expect(await page.locator('.row:visible, .fine li:visible').count()).toBe(EVERY_STATE.length)
    expect(await page.locator('#live').textContent()).toBe('Reload the page to see changes')
    await page.locator(`#d-${DRIFTED} summary`).click()
    expect(await page.locator(`#d-${DRIFTED} tbody tr:visible`).count()).toBe(2)
    await context.close()
  })

  test('can be used with the keyboard alone', async () => {
    const { page, context } = await openPage(browser, url, desktop)
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    for (let presses = 0; presses < 40; presses += 1) {
      await page.keyboard.press('Tab')
      if (await page.evaluate(`document.activeElement?.parentElement?.id === 'd-${DRIFTED}'`)) break
    }
    await page.keyboard.press('Enter')
    expect(await page.locator(`#d-${DRIFTED} table:visible`).count()).toBe(1)
    await context.close()
  })

  test('accepts the token as the password when served to other machines', async () => {
    const address = await serve('0.0.0.0')
    const { page, context } = await openPage(browser, address, desktop, { password: 'correct-horse' })
    await expect.poll(() => page.locator('#live').textContent()).toBe('Live')
    control.show([project('p-1')])
    await expect.poll(() => page.title()).toBe('The project is synced · espalier agent')
    await context.close()
  })
})
