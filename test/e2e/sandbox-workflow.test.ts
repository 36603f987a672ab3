/** The steps of examples/workflows/sandbox.yml, as a runner would run them. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { ROOT } from './espalier.ts'
import { clientAt } from './real-computes.ts'

const { jobs } = parse(readFileSync('examples/workflows/sandbox.yml', 'utf8'))
const step = (name: string): string => jobs.test.steps.find((one: { name?: string }) => one.name === name).run

test('a workflow creates a branch, connects an application through DATABASE_URL, and deletes the branch', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-workflow-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(ROOT, join(folder, 'node_modules', 'espalier'))
  writeFileSync(join(folder, 'seed.yaml'), readFileSync('examples/sandbox/seed.yaml'))
  writeFileSync(join(folder, 'output'), '')
  // Another sandbox may use the default port. Ports from 32768 on may belong to outgoing connections.
  const port = 20_000 + (process.pid % 12_000)
  const env: Record<string, string | undefined> = {
    ...{ PATH: process.env.PATH, HOME: folder, TMPDIR: folder, GITHUB_OUTPUT: join(folder, 'output'), NAME: 'pr-7' },
    NEON_API_HOST: jobs.test.env.NEON_API_HOST.replace('7788', String(port)),
    NEON_API_KEY: jobs.test.env.NEON_API_KEY,
  }
  const bash = (script: string) =>
    execFileSync('bash', ['-e', '-c', script], { cwd: folder, env, encoding: 'utf8', timeout: 50_000 })

  const serve = step('Start the sandbox').split('\n')[0] ?? ''
  const program = `${process.execPath} ${join(ROOT, 'dist/main.js')}`
  const command = serve
    .replace('npx espalier', `exec ${program}`)
    .replace(/ > sandbox\.log 2>&1 &$/, ` --port ${port} --pg-port 0`)
  const server = spawn('bash', ['-c', command], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void server.kill('SIGTERM'))
  let said = ''
  server.stdout.on('data', (text: Buffer) => {
    said += text.toString()
  })
  await expect.poll(() => said).toMatch(/^Computes/m)

  bash(step('Create a branch'))
  const outputs = new Map(
    readFileSync(join(folder, 'output'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const),
  )
  const client = await clientAt(outputs.get('database-url') ?? '')
  expect(await client.query('SELECT 1 AS n')).toEqual([{ n: 1 }])
  await client.close()
  env.BRANCH = outputs.get('url')
  expect(JSON.parse(bash(step('Delete the branch'))).branch.name).toBe('pr-7')
})
