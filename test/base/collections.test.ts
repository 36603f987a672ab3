import { expect, test } from 'vitest'
import { defined } from '../../src/base/index.ts'

test('defined removes undefined properties and keeps all others in order', () => {
  const kept = defined({ a: 0, b: undefined, c: null, d: '', e: false, f: [] })
  expect(Object.entries(kept)).toEqual([
    ['a', 0],
    ['c', null],
    ['d', ''],
    ['e', false],
    ['f', []],
  ])
})
