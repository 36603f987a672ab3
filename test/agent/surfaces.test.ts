/** A running agent with its server: which data it exposes, and what a webhook can trigger. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { folderSource, Notifier, notifyKey, Secret, serveAgent } from '../../src/agent/index.ts'
import { HOUR, MINUTE, manifestOf, openWorld, projectSeed, stateOf, type World } from './running.ts'

const PROJECT = 'quiet-river-12345678'
const PRIMARY = 'ep-main-11111111'

let world: World
beforeEach(async () => {
  world = await openWorld({ projects: [projectSeed(PROJECT)] })
  await world.declare(manifestOf(PROJECT, 1))
})
afterEach(() => world.close())

// promise: agent-secrets
test('no key, token or secret appears on the page, in the API, metrics, events, logs or journals', async () => {
  const token = 'token-of-the-agent'
  const webhookSecret = 'secret-of-the-git-host'
  const notifySecret = `whsec_${Buffer.from('secret-of-the-receiver-of-events').toString('base64')}`
  const events: string[] = []
  const lines: string[] = []
  const notifier = new Notifier({
    send: async (body, headers) => {
      events.push(body, JSON.stringify(headers))
      return 204
    },
    key: notifyKey(notifySecret),
    clock: world.stage.clock,
    log: (line) => lines.push(line),
  })
  const tokens = { read: new Secret('', token, async () => token), write: new Secret('', token, async () => token) }
  const agent = await world.start({ notifier, secrets: [tokens.read] })
  const server = await serveAgent(agent, {
    listen: { host: '127.0.0.1', port: 0 },
    tokens,
    webhookSecret,
    now: world.stage.clock.now,
    log: (line) => lines.push(line),
  })
  const shown: string[] = []
  const look = async (): Promise<void> => {
    for (const path of [
      '/',
      `/projects/${PROJECT}`,
      '/api/v1/projects',
      '/metrics',
      '/healthz',
      '/readyz',
      '/nothing',
    ]) {
      const answer = await fetch(`${server.url}${path}`)
      shown.push(await answer.text(), JSON.stringify([...answer.headers]))
    }
  }
  await world.pass(MINUTE)
  await look()
  await world.edit(PROJECT, PRIMARY, { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 })
  await world.pass(15 * MINUTE)
  expect(stateOf(agent, PROJECT)).toBe('OutOfSync: Drift')
  await look()
  const { apiKey, control } = world.stage.sandbox
  control.addFault({
    on: 'request',
    times: 0,
    after: 0,
    chance: 1,
    effect: { kind: 'status', status: 401, code: '', message: `the key ${apiKey} is not known` },
  })
  await world.pass(30 * MINUTE)
  expect(stateOf(agent, PROJECT)).toContain('Failing')
  await look()
  // A reason may have been pasted together with a secret.
  await agent.suspend('all', world.stage.clock.now() + HOUR, `see ${apiKey} and ${token}`)
  await world.pass(MINUTE)
  expect(agent.view().projects[0]?.message).toBe('see [a secret] and [a secret]')
  await look()
  await world.stage.during(notifier.end())
  await server.close()

  expect(events.join()).toContain('"reason":"Drift"')
  const onDisk = await Promise.all(
    (await readdir(world.folder, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8')),
  )
  for (const secret of [apiKey, token, webhookSecret, notifySecret]) {
    for (const text of [...shown, ...events, ...lines, ...world.log, ...onDisk]) expect(text).not.toContain(secret)
  }
})

// promise: webhook-flood
test('the agent fetches at most once every ten seconds, however many pushes are announced', async () => {
  let reads = 0
  const source = folderSource([join(world.folder, 'manifests')], world.folder)
  const agent = await world.start({
    gitInterval: 60 * MINUTE,
    source: {
      ...source,
      read: () => {
        reads += 1
        return source.read()
      },
    },
  })
  await world.pass(MINUTE)
  const before = reads
  for (let second = 0; second < 60; second += 1) {
    for (let push = 0; push < 20; push += 1) agent.fetchSoon()
    await world.pass(1_000)
  }
  expect(reads - before).toBeGreaterThanOrEqual(4)
  expect(reads - before).toBeLessThanOrEqual(7)
})
