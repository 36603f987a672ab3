/** Tables that fit the terminal, as `status` and `operations` print. */
import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Column, tableOf } from '../../src/report/terminal/table.ts'

interface Row {
  readonly name: string
  readonly state: string
  readonly id: string
  readonly age: string
}
const COLUMNS: readonly Column<Row>[] = [
  { title: 'NAME', text: ({ name }) => name, narrowest: 8 },
  { title: 'STATE', text: ({ state }) => state, color: (_row, paint) => paint.green },
  { title: 'ID', text: ({ id }) => id, isOptional: true },
  { title: 'AGE', text: ({ age }) => age, isOptional: true },
]
const ROWS: readonly Row[] = [
  { name: 'main', state: 'active', id: 'ep-cool-dawn-12345678', age: '5m' },
  { name: 'preview/a-very-long-branch-name', state: 'idle', id: 'ep-1', age: '12d' },
]
const drawn = (width: number, rows = ROWS, color = false): string => {
  const table = tableOf(COLUMNS, rows, { width, color })
  return [table.head, ...rows.map(table.line)].join('\n')
}

test('a table shows every column in full if there is enough room', () => {
  expect(drawn(100)).toBe(
    [
      '  NAME                             STATE   ID                     AGE',
      '  main                             active  ep-cool-dawn-12345678  5m',
      '  preview/a-very-long-branch-name  idle    ep-1                   12d',
    ].join('\n'),
  )
})

test('a table drops optional columns on a narrow terminal, then shortens names in the middle', () => {
  expect(drawn(52)).toBe(
    [
      '  NAME                             STATE   AGE',
      '  main                             active  5m',
      '  preview/a-very-long-branch-name  idle    12d',
    ].join('\n'),
  )
  expect(drawn(30)).toMatchInlineSnapshot(`
    "  NAME                 STATE
      main                 active
      preview/a…anch-name  idle"
  `)
})

test('a table omits a column that is empty in all rows', () => {
  expect(
    drawn(
      100,
      ROWS.map((row) => ({ ...row, id: '' })),
    ),
  ).not.toContain('ID')
})

test('a table never has a line wider than the terminal, with or without colours', () => {
  const row = fc.record({
    name: fc.string({ maxLength: 60 }).map((text) => text.replace(/[^ -~]/g, 'x')),
    state: fc.constantFrom('active', 'idle'),
    id: fc.stringMatching(/^[a-z-]{0,40}$/),
    age: fc.constantFrom('5m', '12d'),
  })
  fc.assert(
    fc.property(
      fc.array(row, { minLength: 1 }),
      fc.integer({ min: 40, max: 200 }),
      fc.boolean(),
      (rows, width, color) => {
        for (const line of drawn(width, rows, color).split('\n')) {
          expect(stripVTControlCharacters(line).length).toBeLessThan(width)
        }
      },
    ),
  )
})
