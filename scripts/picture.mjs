// Makes docs/images/plan.svg from what `espalier plan` really prints.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const state = mkdtempSync(join(tmpdir(), 'espalier-picture-'))
const example = 'examples/quickstart'
const plan = spawnSync(
  process.execPath,
  ['dist/main.js', 'plan', `${example}/espalier.yaml`, `--sandbox=${state}`, '--seed', `${example}/seed.yaml`],
  { encoding: 'utf8', env: { ...process.env, FORCE_COLOR: '1' } },
)
rmSync(state, { recursive: true })
if (plan.status !== 0) throw new Error(plan.stderr)
const title = 'A plan: one compute restarts, an idle one does not, one is created'
const drawn = spawnSync(
  process.execPath,
  ['--import', 'tsx', 'scripts/draw-terminal.ts', 'docs/images/plan.svg', title],
  {
    input: plan.stdout,
    stdio: ['pipe', 'inherit', 'inherit'],
  },
)
process.exitCode = drawn.status ?? 1
