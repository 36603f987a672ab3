/** docs/security.md promises nothing that is not tested. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const page = readFileSync('docs/security.md', 'utf8')
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| attack |'))
  .map((line) => line.slice(2, -2).split(' | '))

test('each attack has a defence and a test', () => {
  expect(rows.length).toBeGreaterThan(30)
  for (const row of rows) {
    expect(row, row.join()).toHaveLength(3)
    for (const cell of row) expect(cell.length, row.join()).toBeGreaterThan(5)
  }
})

test.each(rows.flatMap(([attack = '', , tests = '']) => tests.split('<br>').map((one) => [attack, one] as const)))(
  '%s → %s',
  (_attack, named) => {
    const [, file = '', name = ''] = /^`(test\/[\w./-]+\.test\.ts)`: (.+)$/.exec(named) ?? []
    expect(name, named).not.toBe('')
    const source = readFileSync(file, 'utf8')
    // As a title is in the source: in one kind of quotes or another.
    const titles = [name, name.replaceAll("'", "\\'")].flatMap((title) => [`'${title}'`, `"${title}"`])
    expect(titles.some((title) => source.includes(title))).toBe(true)
  },
)
