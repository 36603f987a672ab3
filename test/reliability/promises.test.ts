import { access, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { faultKinds } from '../sandbox/fault-kinds.ts'

const page = await readFile('docs/reliability.md', 'utf8')

/** The rows of the table of faults, without its head. */
const rows = page
  .slice(page.indexOf('| fault |'))
  .split('\n')
  .slice(2)
  .filter((line, index, lines) => lines.slice(0, index + 1).every((one) => one.startsWith('|')) && line !== '')

const links = rows.flatMap((row) =>
  [...row.matchAll(/\[(.+?)\]\(\.\.\/(test\/[^)]+)\)/g)].map(([, title = '', file = '']) => ({
    title: title.replaceAll('\\|', '|'),
    file,
  })),
)

test.each(links)('$file has a test "$title"', async ({ title, file }) => {
  const source = await readFile(file, 'utf8')
  const quoted = ["'", '"', '`'].some((quote) => source.includes(`${quote}${title}`))
  expect(quoted, `no test of ${file} is called so`).toBe(true)
})

test('every row names its test, and every cell is filled', async () => {
  expect(rows.length).toBeGreaterThan(25)
  for (const row of rows) {
    expect(
      row
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .filter((cell) => cell.trim() !== ''),
      row,
    ).toHaveLength(4)
    expect(row, 'it names no test').toMatch(/\]\(\.\.\/test\/|npm run soak/)
  }
  await access('bench/soak.ts')
})

test('every kind of fault has a row', () => {
  const faults = rows.map((row) => row.split('|')[1]).join(' ')
  expect(faultKinds().filter((kind) => !faults.includes(`\`${kind}\``))).toEqual([])
})
