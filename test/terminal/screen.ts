/** A terminal emulator, which shows output as a person would see it. */
import xterm from '@xterm/headless'

export interface Screen {
  write(text: string): Promise<void>
  resize(columns: number, rows: number): void
  /** All lines, including those that scrolled away, without empty lines at the end. */
  lines(): readonly string[]
}

export const screenOf = (columns: number, rows: number): Screen => {
  // A pseudo-terminal adds carriage returns to output; streams in the test process do not.
  const terminal = new xterm.Terminal({
    cols: columns,
    rows,
    scrollback: 10_000,
    convertEol: true,
    allowProposedApi: true,
  })
  return {
    write: (text) => new Promise((resolve) => terminal.write(text, resolve)),
    resize: (to, tall) => terminal.resize(to, tall),
    lines: () => {
      const { active } = terminal.buffer
      const lines = Array.from(
        { length: active.length },
        (_, row) => active.getLine(row)?.translateToString(true) ?? '',
      )
      return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1)
    },
  }
}
