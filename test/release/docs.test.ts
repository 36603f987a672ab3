/** The docs as a whole: links, the index, pictures, and that the program names no page that its users do not have. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { PLANS } from '../../scripts/pictures/stage.ts'

const FILES = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter((file) => existsSync(file))
const PAGES = FILES.filter((file) => file.endsWith('.md') && !/^test\/[\w-]+\.md$/.test(file))
const textOf = (file: string): string => readFileSync(file, 'utf8')
const withoutCode = (text: string): string => text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '').replaceAll(/`[^`\n]*`/g, '')

/** The anchors of a page, as GitHub makes them from its headings. */
const anchorsOf = (page: string): readonly string[] =>
  [
    ...textOf(page)
      .replaceAll(/^ *```[\s\S]*?^ *```/gm, '')
      .matchAll(/^#+ (.+)$/gm),
  ].map(([, heading = '']) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-'),
  )

const targetsOf = (page: string): readonly string[] =>
  [...withoutCode(textOf(page)).matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)].flatMap(
    ([, link, source]) => {
      const target = link ?? source ?? ''
      return /^[a-z]+:/.test(target) ? [] : [target]
    },
  )

test('every link leads to a file and a heading', () => {
  const isBroken = (page: string, target: string): boolean => {
    const [path = '', anchor] = target.split('#')
    const file = path === '' ? page : normalize(join(dirname(page), path))
    return !existsSync(file) || (anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).includes(anchor))
  }
  const broken = PAGES.flatMap((page) =>
    targetsOf(page)
      .filter((target) => isBroken(page, target))
      .map((target) => `${page}: ${target}`),
  )
  expect(broken).toEqual([])
})

test('every page and every picture in docs/ is linked', () => {
  const linked = new Set(
    PAGES.flatMap((page) =>
      targetsOf(page).map((target) => normalize(join(dirname(page), target.split('#')[0] ?? ''))),
    ),
  )
  const files = FILES.filter((file) => /^docs\/.*\.(md|svg|png)$/.test(file) && file !== 'docs/README.md')
  expect(files.filter((file) => !linked.has(file))).toEqual([])
})

test('every file that CONTRIBUTING names exists', () => {
  const named = [...textOf('CONTRIBUTING.md').matchAll(/`((?:src|test|docs|examples|bench|\.github)\/[\w./-]*)`/g)]
  expect(named.length).toBeGreaterThan(20)
  expect(named.flatMap(([, file = '']) => (existsSync(file) ? [] : [file]))).toEqual([])
})

test('the program and its examples of usage name no page of docs/, because users of the package do not have it', () => {
  const shown = FILES.filter((file) => /^src\/.*\.(ts|yaml|json)$/.test(file) || file === 'action.yml')
  const named = shown.flatMap((file) =>
    textOf(file)
      .split('\n')
      .filter((line) => /(?<![\w./])docs\/[\w/-]+\.md/.test(line.replace(/(?:^|\s)(?:\/\/|\/?\*).*/, '')))
      .filter((line) => !/^ *#/.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  )
  expect(named).toEqual([])
})

// Run `npm run pictures` if this fails.
test.each(Object.entries(PLANS))(
  'the picture %s shows what the program prints',
  async (name, draw) => {
    expect(await draw()).toBe(textOf(`docs/images/${name}`))
  },
  60_000,
)
