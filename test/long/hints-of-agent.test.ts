/** Follows the commands and hints of a running agent. See scripts/hints.ts. */
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type Agent, serveAgent } from '../../src/agent/index.ts'
import { EspalierError } from '../../src/base/index.ts'
import { tokenIn, writeAddress } from '../../src/cli/setup/agent-data.ts'
import { HOUR, MINUTE, manifestOf, openWorld, projectOf, projectSeed, stateOf, type World } from '../agent/running.ts'
import { type Ended, startInProcess } from '../in-process.ts'

const PROJECT = 'quiet-river-12345678'
const manifest = (size: number): string => manifestOf(PROJECT, size)

let world: World
beforeEach(async () => {
  world = await openWorld({ projects: [projectSeed(PROJECT)] })
  onTestFinished(() => world.close())
  await world.declare(manifest(1))
})

interface Reached {
  readonly agent: Agent
  readonly url: string
  /** Runs a command that the agent suggests, in the folder of the manifests. */
  run(command: string | undefined, ...more: readonly string[]): Promise<Ended>
}

const start = async (options: Parameters<World['start']>[0] = {}): Promise<Reached> => {
  const agent = await world.start(options)
  const log = (): void => undefined
  const data = join(world.folder, 'data')
  const token = await tokenIn(data, 'token')
  const listen = { host: '127.0.0.1', port: 0 }
  const server = await serveAgent(agent, {
    listen,
    tokens: { read: token, write: token },
    now: world.stage.clock.now,
    log,
  })
  onTestFinished(() => server.close())
  await writeAddress(data, server.url)
  await world.pass(MINUTE)
  const { apiUrl, apiKey } = world.stage.sandbox
  return {
    agent,
    url: server.url,
    run: (command = '', ...more) => {
      const args = [...command.split(' ').slice(1), ...more]
      const reached = args[0] === 'agent' && !args.includes('--data') ? ['--data', data] : []
      const { clock } = world.stage
      return world.stage.during(
        startInProcess([...args, ...reached], {
          cwd: join(world.folder, 'manifests'),
          env: { ESPALIER_BASE_URL: apiUrl, ESPALIER_API_KEY: apiKey },
          clock: { ...clock, date: clock.now },
        }).ended,
      )
    },
  }
}

describe('the command that the agent shows for a project', () => {
  // hint: espalier agent reconcile … --accept …
  test('accepts a rewritten history', async () => {
    const { agent, run } = await start()
    world.moveGit({ isRewritten: true })
    await world.declare(manifest(2))
    await world.pass(2 * MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Blocked: HistoryRewritten')
    expect(world.writes()).toEqual([])
    const { version = '' } = projectOf(agent, PROJECT)
    for (const wrong of ['abcdef0', version.slice(0, 6)]) {
      await expect(agent.reconcile([PROJECT], wrong)).rejects.toMatchObject({
        message: `${wrong} is not the current commit, or has fewer than 7 characters.`,
        hint: `The current commit is ${version}. Review it, then accept it.`,
      })
    }
    await run(projectOf(agent, PROJECT).command)
    await world.pass(2 * MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Synced')
    expect(world.writes()).toHaveLength(1)
  })

  // hint: espalier agent adopt …
  // hint: To let the agent apply this, run `espalier agent adopt …--commit …`.
  test('adopts the differences that were shown, for the commit that they were shown for', async () => {
    await world.declare(manifest(2))
    const { agent, run } = await start()
    expect(stateOf(agent, PROJECT)).toBe('OutOfSync: Unrecorded')
    const shown = await run(projectOf(agent, PROJECT).command)
    expect(shown).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('size: 1 CU → 2 CU  (restarts, espalier.yaml:4:'),
    })
    const suggestedIn = ({ stdout }: Ended) => /run `(.+?) --data/.exec(stdout)?.[1]
    await world.declare(manifest(4))
    await world.pass(2 * MINUTE)
    expect(await run(suggestedIn(shown))).toMatchObject({ code: 1, stderr: expect.stringContaining('have changed') })
    expect(world.writes()).toEqual([])
    const again = await run(projectOf(agent, PROJECT).command)
    expect(await run(suggestedIn(again))).toMatchObject({ code: 0, stderr: '' })
    await world.pass(2 * MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Synced')
    expect(world.writes()).toHaveLength(1)
    expect((await run('espalier agent adopt --all')).stdout).toBe('There is nothing to adopt.\n')
  })

  // hint: espalier agent reconcile …
  test('sends a change again that the service accepted without effect, and that the agent sent only once', async () => {
    const { agent, run } = await start()
    const { control } = world.stage.sandbox
    control.addFault({ on: 'request', method: 'PATCH', effect: { kind: 'ignore' }, times: 0 })
    await world.declare(manifest(2))
    await world.pass(HOUR)
    expect([stateOf(agent, PROJECT), world.writes().length]).toEqual(['Blocked: Refused', 1])
    control.clearFaults()
    await run(projectOf(agent, PROJECT).command)
    await world.pass(10 * MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Synced')
  })

  // hint: espalier plan --project …
  test('shows what a policy denies', async () => {
    const { agent, run } = await start()
    const rule = '{ name: small, level: deny, reason: Cost., rule: { maxSize: 1 } }'
    await world.declare(`version: 1\npolicies:\n  - ${rule}\n`, 'espalier.policy.yaml')
    await world.declare(manifest(2))
    await world.pass(2 * MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Blocked: Policy')
    expect((await run(projectOf(agent, PROJECT).command, '.')).stdout).toContain('small')
    expect(world.writes()).toEqual([])
  })

  // hint: espalier apply --project …
  test('applies what the agent may not', async () => {
    const { agent, run } = await start({ policy: { onGit: 'apply', onDrift: 'report', allow: new Set() } })
    await world.declare(manifest(2))
    await world.pass(2 * MINUTE)
    expect([stateOf(agent, PROJECT), world.writes()]).toEqual(['Blocked: NotAllowed', []])
    const applied = await run(projectOf(agent, PROJECT).command, '--auto-approve')
    expect(applied.stdout).toContain('Apply complete: 1 done.')
    await world.pass(10 * MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Synced')
  })

  // hint: espalier agent resume …
  test('ends a suspension', async () => {
    const { agent, run } = await start()
    await agent.suspend([PROJECT], world.stage.clock.now() + HOUR, 'load test')
    await world.declare(manifest(2))
    await world.pass(2 * MINUTE)
    expect(projectOf(agent, PROJECT).state).toBe('Suspended')
    expect((await run(projectOf(agent, PROJECT).command)).code).toBe(0)
    await world.pass(10 * MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Synced')
  })

  // hint: espalier validate
  test('shows the error of its manifest', async () => {
    const { agent, run } = await start()
    await world.declare(manifest(3.5))
    await world.pass(2 * MINUTE)
    expect(projectOf(agent, PROJECT).state).toBe('Invalid')
    expect((await run(projectOf(agent, PROJECT).command)).stdout).toContain('E_SIZE')
  })

  // hint: espalier compute … …
  test('repeats an operation that failed', async () => {
    const { agent, run } = await start()
    world.stage.sandbox.control.addFault({ on: 'operation', effect: { kind: 'error' } })
    await world.declare(manifest(2))
    await world.pass(HOUR)
    expect(projectOf(agent, PROJECT)).toMatchObject({ state: 'Failing', sync: 'Synced' })
    expect((await run(`espalier agent status ${PROJECT}`)).stdout).not.toContain('will retry')
    const repeated = await run(projectOf(agent, PROJECT).command, '--auto-approve')
    expect(repeated.code, repeated.stderr).toBe(0)
    await world.pass(20 * MINUTE)
    expect(stateOf(agent, PROJECT)).toBe('Synced')
  })
})

// hint: To list its projects, run `espalier agent status`.
// hint: `espalier agent status` lists the declared projects.
test('agent status lists the projects that can be named', async () => {
  const { agent, run, url } = await start()
  const named = await run('espalier agent status shops')
  const [, suggested = ''] = /run `(.+)`/.exec(named.stderr) ?? []
  expect((await run(suggested)).stdout).toContain(PROJECT)
  await expect(agent.reconcile(['shops'])).rejects.toMatchObject({
    hint: 'To list its projects, run `espalier agent status`.',
  })
  const headers = { authorization: `Bearer ${(await tokenIn(join(world.folder, 'data'), 'token')).text}` }
  const answer = await fetch(`${url}/api/v1/projects/shops`, { headers })
  expect(await answer.json()).toMatchObject({ error: { hint: '`espalier agent status` lists the declared projects.' } })
})

// hint: Run `espalier agent status` to see whether the manifests can be read, then try again.
test('agent status shows why no commit can be accepted yet', async () => {
  world.breakGit(new EspalierError('E_GIT', 'git ls-remote failed: no route to host'))
  const { run } = await start()
  const refused = await run('espalier agent reconcile --all --accept abcdef0')
  const [, suggested] = /Run `(.+?)`/.exec(refused.stderr) ?? []
  expect((await run(suggested)).stderr).toContain('no route to host')
})
