import { expect, test } from 'vitest'
import { messageOf } from '../../src/base/index.ts'

test.each([
  [new Error('no room'), 'no room'],
  ['no room', 'no room'],
  [new TypeError(''), 'TypeError'],
  [new AggregateError([new Error('connect ECONNREFUSED ::1:443'), new Error('late')]), 'connect ECONNREFUSED ::1:443'],
  [new AggregateError([]), 'AggregateError'],
])('the message of %o is %s', (error, message) => {
  expect(messageOf(error)).toBe(message)
})
