/**
 * Plays the pages of docs/ that name a seed, in a sandbox that starts from it: writes the files, runs the commands in
 * order, and compares what they print. In the printed output, `…` stands for any text, and a line with only `…` for any lines.
 */
import { execFile } from 'node:child_process'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/index.ts'
import { scaledClock } from '../../src/sandbox/clock.ts'
import { parseSeed, startSandbox } from '../../src/sandbox/index.ts'
import { ROOT } from '../e2e/espalier.ts'
import { startInProcess } from '../in-process.ts'

const PAGES = ['docs/tutorials', 'docs/how-to'].flatMap((folder) =>
  readdirSync(folder).flatMap((name) => {
    const text = readFileSync(join(folder, name), 'utf8')
    const [, seed] = /^To play this page.*--seed (\S+?)`/m.exec(text) ?? []
    return seed === undefined ? [] : [{ name, text, seed }]
  }),
)

/** A Tuesday, so that pages can rely on whether a restart window is open. */
const START = Date.UTC(2026, 10, 24, 10)
const SPEED = 20
const BLOCK = /^```(yaml|sh|text)\n([\s\S]*?)^```$/gm

const open = async (seed: string) => {
  const clock = scaledClock(SPEED, START)
  const sandbox = await startSandbox({ seed: parseSeed(readFileSync(seed, 'utf8'), seed), clock })
  const folder = await mkdtemp(join(tmpdir(), 'espalier-how-to-'))
  onTestFinished(async () => {
    await sandbox.close()
    await rm(folder, { recursive: true, force: true })
  })
  cpSync(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true })
  const env = { ESPALIER_BASE_URL: sandbox.apiUrl, ESPALIER_API_KEY: sandbox.apiKey, HOME: folder }
  const time = {
    now: () => clock.now(),
    date: () => clock.now(),
    sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / SPEED, signal),
  }
  return {
    write: async (file: string, text: string) => {
      await mkdir(dirname(join(folder, file)), { recursive: true })
      await writeFile(join(folder, file), text)
    },
    /** @returns the exit code, and all that was printed. */
    run: async (line: string): Promise<readonly [number, string]> => {
      const [program, ...words] = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
        ([, single, double, bare]) => single ?? double ?? bare ?? '',
      )
      if (program !== 'espalier' || /[|><$]/.test(line)) {
        const git = { GIT_AUTHOR_NAME: 'a', GIT_COMMITTER_NAME: 'a', GIT_AUTHOR_EMAIL: 'a', GIT_COMMITTER_EMAIL: 'a' }
        const { stdout } = await promisify(execFile)('bash', ['-ec', line], {
          cwd: folder,
          env: { PATH: process.env.PATH, ...env, ...git },
        })
        return [0, stdout]
      }
      const { code, stdout, stderr } = await startInProcess(words, { env, cwd: folder, clock: time }).ended
      // Whether the sandbox is waited for depends on the machine.
      return [code ?? -1, stderr.replaceAll(/^Waiting for the control API.*\n/gm, '') + stdout]
    },
  }
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** A pattern for what the page shows of the output. */
const patternOf = (shown: string): RegExp => {
  const lines = shown.trimEnd().split('\n')
  const parts = lines.map((line) =>
    line.trim() === '…' ? '(?:.*\\n)*?' : `${line.split('…').map(escaped).join('.*?')} *\\n`,
  )
  return new RegExp(`^(?:.*\\n)*?${parts.join('')}`)
}

test.each(PAGES)('$name can be followed as it is printed', async ({ text, seed }) => {
  const { write, run } = await open(seed)
  let printed = ''
  for (const [, kind, body = ''] of text.matchAll(BLOCK)) {
    const [, file] = /^# (\S+\.ya?ml)/.exec(body) ?? []
    if (kind === 'yaml' && file !== undefined) await write(file, body)
    if (kind === 'text') expect(printed.replace(/\n*$/, '\n')).toMatch(patternOf(body))
    if (kind !== 'sh') continue
    printed = ''
    for (const line of body
      .replaceAll(/ *\\\n */g, ' ')
      .trim()
      .split('\n')) {
      // The test has a sandbox of its own.
      if (/^(espalier sandbox serve|export) /.test(line)) continue
      const [, expected = '0'] = /# exits with (\d)/.exec(line) ?? []
      const [code, output] = await run(line.replace(/ +# .*/, ''))
      printed += output
      expect(code, `${line}\n${output}`).toBe(Number(expected))
    }
  }
})
