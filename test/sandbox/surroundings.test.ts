/** The effects of the sandbox on its machine: log, folder and ports. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.ts'

const open = async (options: SandboxOptions): Promise<Sandbox> => {
  const sandbox = await startSandbox(options)
  onTestFinished(() => sandbox.close())
  return sandbox
}

const scratch = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-surroundings-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

// promise: escaped-log
test('a request without a key is logged on one line, without control characters', async () => {
  const lines: string[] = []
  const sandbox = await open({ log: (line) => lines.push(line) })
  const { port } = new URL(sandbox.apiUrl)
  for (const path of ['/%1b%5b31mred', '/x%0aAPI%20%20http://evil.example', '/%e2%80%aereversed', '/api/v2/%9b2J']) {
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
      })
      socket.resume().once('close', () => resolve())
    })
  }
  expect(lines).toHaveLength(4)
  for (const line of lines) {
    expect(line).toMatch(/^GET \//)
    expect(line).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
  }
})

// promise: sandbox-files
test('other users cannot list a new state folder, and git ignores it', async () => {
  const stateDir = join(scratch(), 'state')
  const sandbox = await open({ stateDir })
  expect(sandbox.warnings).toEqual([])
  expect(statSync(stateDir).mode & 0o066).toBe(0)
  expect(readFileSync(join(stateDir, '.gitignore'), 'utf8')).toBe('*\n')
})

test('an existing state folder keeps its permissions and gets no .gitignore, with a warning if other users can read it', async () => {
  const stateDir = scratch()
  chmodSync(stateDir, 0o755)
  const sandbox = await open({ stateDir })
  expect(sandbox.warnings).toEqual([`Other users of this machine can read ${stateDir}: chmod go-r ${stateDir}`])
  expect(statSync(stateDir).mode & 0o777).toBe(0o755)
  expect(existsSync(join(stateDir, '.gitignore'))).toBe(false)
})

// promise: sandbox-files
test('a warning is shown if other users can read the key file', async () => {
  const stateDir = join(scratch(), 'state')
  await (await startSandbox({ stateDir })).close()
  chmodSync(join(stateDir, 'key'), 0o644)
  expect((await open({ stateDir })).warnings).toEqual([expect.stringContaining(`${stateDir}/key`)])
})

test('if the port is taken, the sandbox uses another port if allowed and fails otherwise', async () => {
  const port = Number(new URL((await open({})).apiUrl).port)
  const second = await open({ port, anyPort: true })
  expect(Number(new URL(second.apiUrl).port)).not.toBe(port)
  await expect(startSandbox({ port })).rejects.toMatchObject({ code: 'E_LISTEN' })
})
