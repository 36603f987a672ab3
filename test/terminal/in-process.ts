/** Runs the program in the test process, with streams that behave like those of a terminal. */
import { PassThrough, Writable } from 'node:stream'
import { runProgram } from '../../src/cli/program.ts'
import { fakeIo } from '../in-process.ts'
import { CTRL_C, recordTerminal, type TerminalEnd, type TerminalRun } from './interactions.ts'

export const runInProcess = async (run: TerminalRun): Promise<TerminalEnd> => {
  const { args, cwd, env = {}, columns = 80, rows = 24 } = run
  const { io, send } = fakeIo({ cwd, env: { TERM: 'xterm-256color', ...env } })
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    isRaw: false,
    setRawMode: (isRaw: boolean) => Object.assign(stdin, { isRaw }),
  })
  const size = { columns, rows }
  const { print, ended } = recordTerminal(run, {
    // A terminal turns Ctrl-C into a signal, unless the program reads single keys, as it does at a prompt.
    type: (text) => (text === CTRL_C && !stdin.isRaw ? send('SIGINT') : void stdin.write(text)),
    signal: send,
    resize: (wide, tall) => {
      for (const stream of [stdout, stderr]) Object.assign(stream, { columns: wide, rows: tall }).emit('resize')
    },
  })
  const stream = () =>
    Object.assign(
      new Writable({
        decodeStrings: false,
        write: (chunk: string | Buffer, _encoding, done) => {
          print(String(chunk))
          done()
        },
      }),
      { isTTY: true, ...size },
    )
  const [stdout, stderr] = [stream(), stream()]
  return ended(await runProgram(args, { ...io, stdin, stdout, stderr }))
}
