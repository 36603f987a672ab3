/** Signals must not end the process before the run has printed its result. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runProgram } from '../../src/cli/program.ts'
import { startSandbox } from '../../src/sandbox/index.ts'
import { fakeIo } from '../in-process.ts'

test('apply handles signals until it has written the report and the summary', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'espalier-'))
  onTestFinished(() => rm(cwd, { recursive: true }))
  const sandbox = await startSandbox({
    timeScale: 1_000,
    background: false,
    seed: {
      projects: [
        { id: 'shop', branches: [{ name: 'main', computes: [{ id: 'ep-main', size: 1, scaleToZero: 'never' }] }] },
      ],
    },
  })
  onTestFinished(() => sandbox.close())
  await writeFile(
    join(cwd, 'shop.espalier.yaml'),
    'version: 1\nproject: shop\nbranches:\n  main: { primary: { size: 2 } }\n',
  )
  const { io, output } = fakeIo({
    cwd,
    env: { ESPALIER_API_KEY: sandbox.apiKey, ESPALIER_BASE_URL: sandbox.apiUrl },
  })
  let listening = 0
  const heard: Record<string, number> = {}
  const spy = (stream: NodeJS.WritableStream): void => {
    const write = stream.write.bind(stream)
    stream.write = (text: string | Uint8Array): boolean => {
      for (const words of ['Wrote the page', 'Apply complete'])
        if (String(text).includes(words)) heard[words] = listening
      return write(text)
    }
  }
  spy(io.stdout)
  spy(io.stderr)
  const code = await runProgram(['apply', '.', '--auto-approve', '--allow', 'restart', '--html', 'r.html'], {
    ...io,
    onSignal: (signal, handle) => {
      const release = io.onSignal(signal, handle)
      listening += 1
      return () => {
        listening -= 1
        release()
      }
    },
  })
  expect(code, output.sofar.stderr).toBe(0)
  expect(heard).toEqual({ 'Wrote the page': 2, 'Apply complete': 2 })
  expect(listening).toBe(0)
})
