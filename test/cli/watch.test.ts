/** `watchScreen`, which refreshes until Ctrl-C. */
import { expect, test } from 'vitest'
import { EspalierError } from '../../src/base/index.ts'
import { watchScreen } from '../../src/cli/terminal/watch.ts'
import { fakeIo } from '../in-process.ts'
import { screenOf } from '../terminal/screen.ts'

/** @param readings the result of each read; Ctrl-C follows the last one. */
const watch = async (isTTY: boolean, readings: readonly (string | Error)[], rows = 10) => {
  const { io, output, send } = fakeIo({ cwd: '/', env: { TERM: 'xterm' } })
  Object.assign(io.stdout, { isTTY, rows, columns: 80 })
  const left = [...readings]
  const read = async (): Promise<string> => {
    const [next = ''] = left.splice(0, 1)
    if (left.length === 0) send('SIGINT')
    if (next instanceof Error) throw next
    return next
  }
  const clock = { ...io.clock, sleep: async () => undefined }
  const ended = watchScreen({ command: 'status', read, draw: String }, { ...io, clock })
  return { ended, stdout: () => output.sofar.stdout }
}
const down = new EspalierError('E_NETWORK', 'No answer.')

test('on a terminal, watch draws on the alternate screen and restores the previous one', async () => {
  const { ended, stdout } = await watch(true, ['one', 'two\nlines'])
  await ended
  const screen = screenOf(80, 10)
  await screen.write('$ espalier status --watch\r\n')
  const [before = '', after] = stdout().split('\u001b[?25h')
  await screen.write(before)
  expect(screen.lines().slice(1)).toEqual(['', 'two', 'lines'])
  expect(screen.lines()[0]).toMatch(/^espalier status, every 5 s\. {2}Read at \d\d:\d\d:\d\d UTC\. Ctrl-C ends\.$/)
  await screen.write(`\u001b[?25h${after}`)
  expect(screen.lines()).toEqual(['$ espalier status --watch'])
})

test('watch draws no more lines than the terminal has rows', async () => {
  const { ended, stdout } = await watch(true, [Array.from({ length: 30 }, (_, at) => `line ${at}`).join('\n')], 6)
  await ended
  const screen = screenOf(80, 6)
  await screen.write(stdout().split('\u001b[?25h')[0] ?? '')
  expect(screen.lines().slice(1)).toEqual([
    '',
    'line 0',
    'line 1',
    'line 2',
    '  and 27 more lines: the terminal is too small',
  ])
})

test('watch reports a failed refresh and retries, but throws if the first read fails', async () => {
  const later = await watch(true, ['one', down, 'two'])
  await later.ended
  expect(later.stdout()).toContain('The refresh failed: No answer.')
  expect(later.stdout()).toContain('two')
  const first = await watch(true, [down])
  await expect(first.ended).rejects.toBe(down)
  expect(first.stdout()).toBe('')
})

test('in a pipe, watch prints each refresh below the previous one', async () => {
  const { ended, stdout } = await watch(false, ['one', 'two'])
  await ended
  expect(stdout()).toBe('one\ntwo\n')
})
