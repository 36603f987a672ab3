import { expect, test } from 'vitest'
import { nearest } from '../../src/base/index.ts'

const FLAGS = ['detailed-exitcode', 'format', 'out', 'api-key-file', 'base-url']

test.each([
  ['detailed-exit-code', 'detailed-exitcode'],
  ['fromat', 'format'],
  ['api-key', 'api-key-file'],
  ['something-else', undefined],
])('nearest(%j) suggests %j', (word, meant) => {
  expect(nearest(word, FLAGS)).toBe(meant)
})
