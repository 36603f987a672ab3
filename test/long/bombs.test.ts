/** Files and responses made to exhaust memory: each run ends soon, uses less than 500 MB, and prints a message. */
import { spawn } from 'node:child_process'
import { createReadStream, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { JSON_BOMBS, MANIFEST_BOMBS } from '../hostile/bombs.ts'
import { serve } from '../serve.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const MOST_MB = 500
const LONGEST_MS = 55_000
/** Prints the peak memory of the process when it exits. */
const METER = `data:text/javascript,process.on('exit',()=>process.stderr.write('\\nPeak '+process.resourceUsage().maxRSS))`

interface Measured {
  readonly code: number | null
  readonly said: string
  readonly peakMb: number
}

interface Run {
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
}

const run = async (args: readonly string[], cwd: string, { env = {}, stdin }: Run = {}): Promise<Measured> => {
  const child = spawn(process.execPath, ['--import', METER, MAIN, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    timeout: LONGEST_MS,
    killSignal: 'SIGKILL',
  })
  if (stdin !== undefined && child.stdin !== null) {
    child.stdin.on('error', () => undefined)
    createReadStream(stdin).pipe(child.stdin)
  }
  const [out, err, code] = await Promise.all([
    text(child.stdout as NodeJS.ReadableStream),
    text(child.stderr as NodeJS.ReadableStream),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ])
  return { code, said: out + err, peakMb: Number(/\nPeak (\d+)/.exec(err)?.[1] ?? Number.NaN) / 1024 }
}

const folder = (): string => mkdtempSync(join(tmpdir(), 'espalier-bombs-'))

const expectCalm = ({ code, said, peakMb }: Measured, words: RegExp): void => {
  expect(code, said.slice(0, 2_000)).toBe(1)
  expect(peakMb).toBeLessThan(MOST_MB)
  expect(said).toMatch(words)
  expect(said).not.toMatch(/bug in espalier|^ {4}at |heap out of memory/m)
  // The message is for people, so it must be short.
  expect(said.length).toBeLessThan(300_000)
}

// promise: huge-manifest
describe.concurrent('a huge or deeply nested manifest', () => {
  test.each(Object.entries(MANIFEST_BOMBS))('is rejected without using much memory: %s', async (_name, make) => {
    const cwd = folder()
    writeFileSync(join(cwd, 'espalier.yaml'), make())
    expectCalm(await run(['validate'], cwd), /E_|error/)
  })
})

// promise: huge-plan
describe.concurrent('a huge or deeply nested saved plan or snapshot', () => {
  // Both are read by the same code.
  const runs = Object.entries(JSON_BOMBS).map(([name, make], index) => [name, index % 2 === 0, make] as const)

  test.each(runs)('is rejected without using much memory: %s (as a saved plan: %s)', async (_name, isPlan, make) => {
    const cwd = folder()
    writeFileSync(join(cwd, 'bomb.json'), make())
    writeFileSync(join(cwd, 'espalier.yaml'), 'version: 1\nproject: shop\nbranches: {}\n')
    const ended = await run(isPlan ? ['show', 'bomb.json'] : ['plan', '--live', 'bomb.json', 'espalier.yaml'], cwd)
    expectCalm(ended, isPlan ? /is not a saved plan/ : /cannot be used as a snapshot/)
  })
})

describe.concurrent('an endless input', () => {
  const cases: readonly { readonly args: readonly string[]; readonly words: RegExp; readonly stdin?: string }[] = [
    { args: ['show', '/dev/zero'], words: /larger than 64 MiB/ },
    { args: ['plan', '--live', '/dev/zero'], words: /larger than 64 MiB/ },
    { args: ['validate', '-'], words: /larger than 32 MiB/, stdin: '/dev/zero' },
    { args: ['validate', '/dev/zero'], words: /neither a file nor a folder/ },
    { args: ['plan', '--api-key-file', '/dev/zero'], words: /cannot be read/ },
  ]

  // promise: device-as-file
  test.each(cases)('is read only up to its limit: $args', async ({ args, words, stdin }) => {
    const cwd = folder()
    writeFileSync(join(cwd, 'espalier.yaml'), 'version: 1\nproject: shop\nbranches: {}\n')
    const env = { ESPALIER_API_KEY: 'a-key' }
    expectCalm(await run(args, cwd, { env, ...(stdin === undefined ? {} : { stdin }) }), words)
  })
})

// promise: huge-response
describe.concurrent('a huge or deeply nested response of the control API', () => {
  const answers: Readonly<Record<string, () => string>> = {
    ...JSON_BOMBS,
    '20 MB of valid branches': () =>
      JSON.stringify({
        branches: Array.from({ length: 40_000 }, (_, index) => ({
          id: `br-${index}`,
          name: 'x'.repeat(400),
          default: false,
          protected: false,
          project_id: 'shop',
          current_state: 'ready',
        })),
        endpoints: [],
      }),
    '40 MB': () => JSON.stringify({ branches: [], endpoints: [], more: 'x'.repeat(40_000_000) }),
  }

  const names = ['objects in objects', '30 MB of empty lists', '20 MB of valid branches', '40 MB']
  test.each(names)('is handled with little memory: %s', async (name) => {
    const body = answers[name]?.() ?? ''
    const { port } = await serve((_request, response) => response.end(body))
    const cwd = folder()
    writeFileSync(join(cwd, 'espalier.yaml'), 'version: 1\nproject: shop\nbranches: { gone: {} }\n')
    const env = { ESPALIER_API_KEY: 'a-key', ESPALIER_BASE_URL: `http://127.0.0.1:${port}` }
    expectCalm(await run(['plan'], cwd, { env }), /control API|E_BRANCH_UNKNOWN/)
  })

  test('is rejected if its pages never end', async () => {
    let page = 0
    const { port } = await serve(({ url = '' }, response) => {
      page += 1
      const branches = Array.from({ length: 10_000 }, (_, index) => ({
        id: `br-${page}-${index}`,
        name: `b${page}-${index}`,
      }))
      response.end(
        JSON.stringify(url.includes('branches') ? { branches, pagination: { next: `p${page}` } } : { endpoints: [] }),
      )
    })
    const cwd = folder()
    writeFileSync(join(cwd, 'espalier.yaml'), 'version: 1\nproject: shop\nbranches: {}\n')
    const env = { ESPALIER_API_KEY: 'a-key', ESPALIER_BASE_URL: `http://127.0.0.1:${port}` }
    expectCalm(await run(['plan'], cwd, { env }), /more than 200,000 items|undocumented response/)
  })
})
