// Shows how the agent works with the sandbox, from a commit to a restart window. Takes less than a minute. Exits with 0
// if every step was observed.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const PROJECT = 'quiet-river-12345678'
const folder = mkdtempSync(join(tmpdir(), 'espalier-demo-'))
const repo = join(folder, 'repo')
const data = join(folder, 'agent')

const manifest = (main, reporting) => `version: 1
project: ${PROJECT}
restartWindow: { days: [mon, tue, wed, thu, fri, sat, sun], from: "02:00", to: "04:00", timezone: UTC }
branches:
  main:
    primary: { size: ${main}, scaleToZero: never }
  staging:
    primary: { scaleToZero: ${reporting} }
`
const seed = `projects:
  - id: ${PROJECT}
    branches:
      - { id: br-main-11111111, name: main, computes: [{ id: ep-main-11111111, size: 1, scaleToZero: never }] }
      - { id: br-staging-11111111, name: staging, computes: [{ id: ep-staging-11111111, size: 1, scaleToZero: 5m }] }
`

const say = (text) => process.stdout.write(`\n# ${text}\n`)
const git = (...args) =>
  execFileSync('git', ['-c', 'user.name=demo', '-c', 'user.email=demo@example.com', ...args], { cwd: repo })
const commit = (message, main, reporting) => {
  writeFileSync(join(repo, 'espalier.yaml'), manifest(main, reporting))
  git('add', '.')
  git('commit', '-qm', message)
}

execFileSync('git', ['init', '-q', '-b', 'main', repo])
commit('Start', 1, '5m')
writeFileSync(join(folder, 'seed.yaml'), seed)

// Shifts the clock of the agent and its sandbox to 35 seconds before the window opens.
const shift = Date.parse('2026-11-22T01:59:25Z') - Date.now()
const clock = join(folder, 'clock.mjs')
writeFileSync(clock, `const real = Date.now\nDate.now = () => real() + ${shift}\n`)

/** Prints the command as a user would type it, then runs it. */
const run = async (...args) => {
  process.stdout.write(`\n$ espalier ${args.join(' ')}\n`)
  const child = spawn(process.execPath, ['--import', clock, MAIN, ...args, '--data', data], { stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  return code
}

const flags = ['--repo', repo, '--ref', 'main', '--git-interval', '5s', '--data', data, '--listen', '127.0.0.1:0']
say('The agent follows a repository and manages a sandbox, where it is 01:59:25.')
process.stdout.write(`$ espalier agent run --repo ${repo} --sandbox=seed.yaml --git-interval 5s\n`)
const agent = spawn(
  process.execPath,
  ['--import', clock, MAIN, 'agent', 'run', ...flags, `--sandbox=${join(folder, 'seed.yaml')}`],
  { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
)
const found = {}
const waiting = new Set()
const printed = []
createInterface({ input: agent.stdout }).on('line', (line) => {
  process.stdout.write(`  ${line}\n`)
  printed.push(line)
  const [name, value] = line.split(/\s+/)
  found[name] ??= value
  for (const check of waiting) check()
})
const ended = once(agent, 'exit')
const seen = (text, from = printed.length) =>
  new Promise((resolve, reject) => {
    const check = () => printed.slice(from).some((line) => line.includes(text)) && resolve()
    waiting.add(check)
    check()
    ended.then(() => reject(new Error(`the agent exited before it printed ${text}`)))
  })

try {
  await seen('Synced', 0)

  say('The change in this commit interrupts no one, so its first request is sent within seconds.')
  commit('Let staging suspend sooner', 1, '1m')
  await seen('done: update')

  say('The change in this commit restarts main, so its step waits for the restart window.')
  commit('Double main', 2, '1m')
  await seen('Scheduled')
  await run('agent', 'status', PROJECT)

  say('Someone changes the compute of staging manually.')
  await fetch(`${found.Sandbox}/projects/${PROJECT}/endpoints/ep-staging-11111111`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${found.Key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ endpoint: { suspend_timeout_seconds: 3_600 } }),
  })

  say('At 02:00, the restart window opens and main restarts. The agent also reports the manual change.')
  await Promise.all([seen('done: update'), seen('OutOfSync')])
  await run('agent', 'status', PROJECT)
  await run('agent', 'history')

  say('The same information is available as metrics for Prometheus and on the page of the agent:')
  const metrics = await (await fetch(`${found.Page}metrics`)).text()
  process.stdout.write(
    `${metrics
      .split('\n')
      .filter((line) => /^espalier_(project_state|differing|reconcile_total)/.test(line))
      .join('\n')}\n`,
  )
  const page = await fetch(found.Page)
  process.stdout.write(`GET ${found.Page} ${page.status}, ${(await page.text()).length} characters\n`)
} finally {
  agent.kill('SIGTERM')
  const [code] = await ended
  process.exitCode = code === 0 ? process.exitCode : 1
  rmSync(folder, { recursive: true, force: true })
}
