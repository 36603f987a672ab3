/** In docs/explanation/compared.md, every claim about another tool links to its source. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const page = readFileSync('docs/explanation/compared.md', 'utf8')
const rows = page.split('\n').filter((line) => line.startsWith('| ') && !/^\|\s+\|/.test(line))

test('every cell links to a source', () => {
  expect(rows.length).toBeGreaterThan(30)
  for (const row of rows) {
    const [name, ...cells] = row.split(' | ').map((cell) => cell.trim().replace(/^\|\s*|\s*\|$/g, ''))
    expect(cells.length, name ?? row).toBeGreaterThan(0)
    for (const cell of cells) expect(cell, row).toMatch(/^\[.+\](\[\d+\]|\([\w./-]+\.md(#[\w-]+)?\))$/)
  }
})

test('every source is pinned to a commit or version, and is cited', () => {
  const sources = new Map([...page.matchAll(/^\[(\d+)\]: (\S+)$/gm)].map(([, id = '', url = '']) => [id, url]))
  for (const [id, url] of sources) {
    expect(url).toMatch(
      /^https:\/\/(github\.com\/[\w-]+\/[\w-]+\/blob\/[0-9a-f]{40}\/|unpkg\.com\/(@neon\/)?[\w-]+@\d+\.\d+\.\d+\/)/,
    )
    expect(page, url).toContain(`][${id}]`)
  }
  for (const [, id = ''] of page.matchAll(/\]\[(\d+)\]/g)) expect(sources.has(id), id).toBe(true)
})
