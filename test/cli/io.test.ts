import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { globSync } from 'tinyglobby'
import { expect, test } from 'vitest'
import { startInProcess } from '../in-process.ts'

test("only main.ts accesses the process's streams, environment, working directory, signals and clock", async () => {
  const files = globSync('src/cli/**/*.ts', { ignore: ['src/cli/main.ts'] })
  expect(files.length).toBeGreaterThan(30)
  const own = /\bprocess\.(?:std\w+|env|cwd|chdir|argv|exit\w*|on|once|off)\b|\bDate\.now\b|new Date\(\)|\bconsole\.\w/
  const texts = await Promise.all(files.map(async (file) => ({ file, text: await readFile(file, 'utf8') })))
  expect(texts.filter(({ text }) => own.test(text)).map(({ file }) => file)).toEqual([])
})

test('two concurrent runs each use their own folder, stdin and environment', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-io-'))
  await writeFile(
    join(folder, 'espalier.yaml'),
    'version: 1\nproject: shop\nbranches: { main: { primary: { size: 3.5 } } }\n',
  )
  const [here, piped] = await Promise.all([
    startInProcess(['validate'], { cwd: folder, env: { FORCE_COLOR: '1' } }).ended,
    startInProcess(['validate', '-'], { cwd: '/', stdin: 'version: 1\nproject: p\n' }).ended,
  ])
  expect(here).toMatchObject({ code: 1, stdout: expect.stringContaining('\u001b[') })
  expect(piped).toEqual({ code: 0, stdout: 'No problems in 1 file.\n', stderr: '' })
})

test('sandbox serve runs until it is interrupted, and then exits with 0', async () => {
  const running = startInProcess(['sandbox', 'serve', '--port', '0', '--computes', 'simulated'], { cwd: tmpdir() })
  await running.says('Computes  simulated')
  running.interrupt()
  expect(await running.ended).toMatchObject({ code: 0, stderr: '' })
})
