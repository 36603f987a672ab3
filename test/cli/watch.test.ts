/** Drawing again in the same place. */
import { expect, test } from 'vitest'
import { redraw } from '../../src/cli/watch.ts'
import { fakeIo } from '../in-process.ts'

const drawn = (isTTY: boolean): string => {
  const { io, output } = fakeIo({ cwd: '/' })
  redraw({ ...io, stdout: Object.assign(io.stdout, { isTTY }) })
  return output.sofar.stdout
}

test('on a terminal the screen is cleared, and what scrolled away is kept', () => {
  expect(drawn(true)).toBe('\u001b[H\u001b[J')
})

test('elsewhere nothing is cleared', () => {
  expect(drawn(false)).toBe('')
})
