/** How long `agent reconcile` waits. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { serveAgent } from '../../src/agent/index.ts'
import { tokenIn, writeAddress } from '../../src/cli/setup/agent-data.ts'
import type { ProjectView } from '../../src/model/index.ts'
import { at, FakeControl, project, START } from '../agent/fake-control.ts'
import { startInProcess } from '../in-process.ts'

const LATE = 'warning  Not ended within 1m: p-1.\n'

test.each<[string, Partial<ProjectView>, number, string]>([
  ['was read', { refreshedAt: at(1) }, 0, ''],
  ['was found invalid', { state: 'Invalid' }, 3, ''],
  ['could not be read', { state: 'Failing', reason: 'Unreachable', since: at(-1), unreadAt: at(1) }, 3, ''],
  ['has not been read yet', { refreshedAt: at(-1) }, 3, LATE],
  ['could not be read before', { state: 'Failing', reason: 'KeyRefused', since: at(-1), unreadAt: at(-1) }, 3, LATE],
  ['has a running step', { state: 'Progressing', refreshedAt: at(1) }, 3, LATE],
])('for a project that %s', async (_what, view, code, stderr) => {
  const data = await mkdtemp(join(tmpdir(), 'espalier-reconcile-'))
  onTestFinished(() => rm(data, { recursive: true }))
  const [listen, write] = [{ host: '127.0.0.1', port: 0 }, await tokenIn(data, 'token')]
  const control = new FakeControl([project('p-1', view)])
  const log = (): void => undefined
  const server = await serveAgent(control, { listen, tokens: { read: write, write }, now: () => START, log })
  onTestFinished(() => server.close())
  await writeAddress(data, server.url)
  let now = START
  const clock = {
    now: () => now,
    date: () => now,
    sleep: async () => {
      now += 20_000
    },
  }
  const args = ['agent', 'reconcile', 'p-1', '--data', data, '--timeout', '1m']
  expect(await startInProcess(args, { cwd: data, clock }).ended).toMatchObject({ code, stderr })
  expect(control.asked).toEqual([['reconcile', ['p-1'], undefined]])
})
