import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Home } from '../../src/sandbox/computes/postgres/home.ts'
import { Poolers } from '../../src/sandbox/computes/postgres/pooler.ts'
import type { RunningServer } from '../../src/sandbox/computes/postgres/server.ts'

/** Like PgBouncer 1.23 with a client that stays connected. */
const PROGRAM = `#!/bin/sh
if [ "$1" = --version ]; then echo 'PgBouncer 1.23.1'; exit; fi
trap '' TERM
echo 'process up' >&2
while :; do sleep 0.05; done
`

test('a pooler stops while a client is connected', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-pooler-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const program = join(folder, 'pgbouncer')
  writeFileSync(program, PROGRAM)
  chmodSync(program, 0o755)
  const home: Pick<Home, 'runAs' | 'socketFolder' | 'watchdog' | 'write'> = {
    runAs: { command: (name, args) => [name, args], ids: {}, own: () => undefined },
    socketFolder: () => folder,
    watchdog: { watch: () => undefined, release: () => undefined, close: async () => undefined },
    write: (path, text) => {
      writeFileSync(path, text)
      return path
    },
  }
  const running = {
    server: { socketFolder: folder },
    spec: { id: 'ep-main', maxConnections: 100, catalog: { roles: [] } },
  }
  const poolers = new Poolers(home as Home)
  expect(await poolers.reach(program, running as unknown as RunningServer)).toContain(folder)
  await poolers.stop('ep-main')
})
