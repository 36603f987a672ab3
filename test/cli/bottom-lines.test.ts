/** Lines at the bottom of a terminal, with other output above them. */
import { EventEmitter } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { BottomLines } from '../../src/cli/terminal/bottom-lines.ts'
import { fakeIo } from '../in-process.ts'
import { screenOf } from '../terminal/screen.ts'

const terminal = (columns: number, rows: number) => {
  const screen = screenOf(columns, rows)
  let shown: Promise<unknown> = Promise.resolve()
  const stream = () =>
    Object.assign(new EventEmitter(), {
      isTTY: true as const,
      columns,
      write: (text: string | Uint8Array): boolean => {
        shown = screen.write(String(text))
        return true
      },
    })
  const [out, err] = [stream(), stream()]
  const { io, send } = fakeIo({ cwd: '/' })
  return {
    screen,
    out,
    err,
    send,
    bottom: new BottomLines(out, err, io.onSignal),
    seen: async (): Promise<readonly string[]> => {
      // A burst of output is followed by one drawing.
      await setImmediate()
      await shown
      return screen.lines()
    },
    resize: async (to: number, tall: number): Promise<void> => {
      await shown
      screen.resize(to, tall)
      out.columns = to
    },
  }
}

const frames = (count: number) => Array.from({ length: count }, (_, index) => [`header ${index}`, `row ${index}`])

describe.each([
  [80, 24],
  [120, 40],
  [20, 5],
])('a terminal of %ix%i', (columns, rows) => {
  test('shows only the last drawing, and nothing after close', async () => {
    const { bottom, seen } = terminal(columns, rows)
    for (const frame of frames(100)) bottom.draw(frame)
    expect(await seen()).toEqual(['header 99', 'row 99'])
    bottom.close()
    expect(await seen()).toEqual([])
  })

  test('shows output of both streams above the drawing, once and in order', async () => {
    const { bottom, out, err, seen } = terminal(columns, rows)
    const said: string[] = []
    for (const [index, frame] of frames(60).entries()) {
      bottom.draw(frame)
      const text = `line ${index}`
      said.push(text)
      const stream = index % 2 === 0 ? out : err
      stream.write(`${text}\n`)
    }
    expect(await seen()).toEqual([...said, 'header 59', 'row 59'])
    bottom.close()
    out.write('the end\n')
    expect(await seen()).toEqual([...said, 'the end'])
  })

  test('does not draw over a line that is printed in pieces', async () => {
    const { bottom, err, seen } = terminal(columns, rows)
    bottom.draw(['header'])
    err.write('half')
    err.write(' a line\n')
    bottom.draw(['header again'])
    err.write('cut')
    bottom.draw(['the last'])
    expect(await seen()).toEqual(['half a line', 'cut', 'the last'])
  })
})

test.each([
  [80, 40],
  [120, 30],
  [40, 100],
])('a terminal resized from %i to %i columns keeps nothing of the previous drawing', async (from, to) => {
  const { bottom, out, seen, resize } = terminal(from, 30)
  out.write('above\n')
  bottom.draw(['x'.repeat(from - 1), 'y'.repeat(from - 1), 'z'.repeat(10)])
  await resize(to, 20)
  bottom.draw(['after'])
  expect(await seen()).toEqual(['above', 'after'])
  bottom.close()
})

test("after Ctrl-Z and fg, the lines are drawn below the shell's output", async () => {
  const { bottom, screen, seen, send } = terminal(80, 24)
  bottom.draw(['header', 'row'])
  await screen.write('$ fg\n')
  send('SIGCONT')
  bottom.draw(['header', 'row'])
  expect(await seen()).toEqual(['header', 'row', '$ fg', 'header', 'row'])
  bottom.close()
})

test('output to a stream that is not a terminal is left unchanged', async () => {
  const written: string[] = []
  const file = {
    isTTY: false as unknown as true,
    columns: 80,
    write: (text: string | Uint8Array) => written.push(String(text)) > 0,
  }
  const { out, bottom: first } = terminal(80, 24)
  first.close()
  const own = file.write
  const bottom = new BottomLines(out, file, fakeIo({ cwd: '/' }).io.onSignal)
  expect(file.write).toBe(own)
  bottom.close()
})
