/** Every defence in docs/security.md has a test. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const page = readFileSync('docs/security.md', 'utf8')
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| attack |'))
  .map((line) => line.slice(2, -2).split(' | '))

test('every attack has a defence and a test', () => {
  expect(rows.length).toBeGreaterThan(30)
  for (const row of rows) {
    expect(row, row.join()).toHaveLength(3)
    for (const cell of row) expect(cell.length, row.join()).toBeGreaterThan(5)
  }
})

test.each(rows.flatMap(([attack = '', , tests = '']) => tests.split('<br>').map((one) => [attack, one] as const)))(
  'the test for the attack "%s" exists: %s',
  (_attack, named) => {
    const [, file = '', name = ''] = /^`(test\/[\w./-]+\.test\.ts)`: (.+)$/.exec(named) ?? []
    expect(name, named).not.toBe('')
    const source = readFileSync(file, 'utf8')
    // Titles in the source have single or double quotes.
    const titles = [name, name.replaceAll("'", "\\'")].flatMap((title) => [`'${title}'`, `"${title}"`])
    expect(titles.some((title) => source.includes(title))).toBe(true)
  },
)
