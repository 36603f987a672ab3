/** Runs commands in a sandbox, and renders their terminal output as pictures in docs/images: `npm run pictures`. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { COLUMNS, drawn, MOST_ROWS, PLANS, runOn, terminalOf, withStage } from './pictures/stage.ts'
import { terminalSvg } from './pictures/terminal-svg.ts'

const save = (name: string, svg: string): void => {
  writeFileSync(`docs/images/${name}`, svg)
  console.log(`docs/images/${name}`)
}

for (const [name, draw] of Object.entries(PLANS)) save(name, await draw())

/** The day of a restart window that is closed today. */
const dayAfterTomorrow = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'][(new Date().getUTCDay() + 2) % 7]
const CLOSED = { restartWindow: { days: [dayAfterTomorrow], from: '02:00', to: '04:00', timezone: 'UTC' } }

await withStage(
  async (stage) => {
    const { control } = stage.sandbox
    control.addFault({
      on: 'operation',
      endpoint_id: 'ep-main-03a1b2c3d4',
      effect: { kind: 'error', message: 'no host had room' },
    })
    const ended = terminalOf(COLUMNS, 30)
    let isDrawn = false
    const watch = (): void => {
      const { active } = ended.buffer
      const lines = Array.from(
        { length: active.length },
        (_, row) => active.getLine(row)?.translateToString(true) ?? '',
      )
      if (isDrawn || !lines.some((line) => /Applying [4-9]\/\d+/.test(line))) return
      isDrawn = true
      // Draw the current screen while the command continues.
      save('apply-running-80.svg', terminalSvg(ended, 'A running apply', ended.buffer.active.baseY, MOST_ROWS))
    }
    await runOn(ended, stage, ['apply', 'projects', '--auto-approve'], watch)
    const title = 'A completed apply with failed, scheduled and not allowed steps'
    save('apply-ended-80.svg', terminalSvg(ended, title, ended.buffer.active.baseY, MOST_ROWS))
  },
  8,
  24,
  3,
  { storefront: CLOSED, search: CLOSED },
)

await withStage(
  async (stage) => {
    save('status-80.svg', await drawn(stage, 'The computes of three projects', ['status', 'projects']))
  },
  3,
  7,
  3,
)

await withStage(
  async (stage) => {
    const { apiUrl, apiKey } = stage.sandbox
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: stage.folder })
    git('init', '-q')
    git('add', '.')
    git('commit', '-qm', 'Manifests')
    const file = join(stage.folder, 'projects/search.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('primary: {}', 'primary:\n      size: 2'))
    const change = (method: string, path: string, body?: unknown) =>
      fetch(`${apiUrl}/projects/${path}`, {
        method,
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    const size = { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 4 }
    const [billing, storefront] = ['billing-10000000', 'storefront-17654321']
    await change('PATCH', `${billing}/endpoints/ep-main-00a1b2c3d4`, { endpoint: size })
    await change('DELETE', `${storefront}/endpoints/ep-staging-01a1b2c3d4`)
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    const title = 'Manual changes, and changes from the manifests'
    save('drift-80.svg', await drawn(stage, title, ['drift', 'projects']))
  },
  3,
  0,
  1,
  { billing: { defaults: { size: 1 } } },
)
