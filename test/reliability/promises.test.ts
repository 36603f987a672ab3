import { access, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { faultKinds } from '../sandbox/fault-kinds.ts'

const page = await readFile('docs/reliability.md', 'utf8')

/** The rows of the fault table, without its head. */
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

test.each(links)('the test "$title" exists in $file', async ({ title, file }) => {
  const source = await readFile(file, 'utf8')
  const quoted = ["'", '"', '`'].some((quote) => source.includes(`${quote}${title}`))
  expect(quoted, `${file} has no test with this title`).toBe(true)
})

test('every row links to a test, and no cell is empty', async () => {
  expect(rows.length).toBeGreaterThan(25)
  for (const row of rows) {
    expect(
      row
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .filter((cell) => cell.trim() !== ''),
      row,
    ).toHaveLength(4)
    expect(row, 'it links to no test').toMatch(/\]\(\.\.\/test\/|npm run soak/)
  }
  await access('bench/soak.ts')
})

test('every kind of fault has a row in the table', () => {
  const faults = rows.map((row) => row.split('|')[1]).join(' ')
  expect(faultKinds().filter((kind) => !faults.includes(`\`${kind}\``))).toEqual([])
})
