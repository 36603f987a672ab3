/** Opens pages in an installed browser. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** The path in `CHROMIUM`, or of a browser in a standard location. `undefined` if there is no browser. */
export const browserPath = (): string | undefined =>
  [process.env.CHROMIUM ?? '', ...PLACES].find((path) => existsSync(path))

export const openBrowser = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'], timeout: 30_000 })

export interface View {
  readonly name: string
  readonly width: number
  readonly height: number
  readonly scheme: 'light' | 'dark'
}

const SIZES = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } } as const

export const VIEWS: readonly View[] = (['desktop', 'phone'] as const).flatMap((size) =>
  (['light', 'dark'] as const).map((scheme) => ({ name: `${size}-${scheme}`, ...SIZES[size], scheme })),
)

export interface Opened {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors on the page, and network requests that the page tried to send. */
  readonly complaints: readonly string[]
}

export const openPage = async (
  browser: Browser,
  /** The path of a file, or a URL. */
  path: string,
  { width, height, scheme }: View,
  options: { readonly script?: boolean; readonly anyPolicy?: boolean; readonly password?: string } = {},
): Promise<Opened> => {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    javaScriptEnabled: options.script ?? true,
    bypassCSP: options.anyPolicy ?? false,
    ...(options.password === undefined ? {} : { httpCredentials: { username: 'any', password: options.password } }),
  })
  const isServed = path.startsWith('http')
  const url = isServed ? path : `file://${path}`
  const isOwn = (asked: string): boolean => (isServed ? asked.startsWith(path) : asked === url)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`))
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('request', (request) => {
    if (!isOwn(request.url())) complaints.push(`request: ${request.url()}`)
  })
  await page.goto(url)
  return { page, context, complaints }
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/**
 * The violations that the accessibility check found, one per line. Requires a page that was opened with `anyPolicy`.
 */
export const violations = async (page: Page): Promise<readonly string[]> => {
  await page.addScriptTag({ path: AXE })
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { target: unknown; failureSummary: string }[] }[] }> }
    }
    const found = await axe.run()
    return found.violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id} ${String(node.target)} ${node.failureSummary}`),
    )
  })
}
