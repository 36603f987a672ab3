/** Runs each example workflow on a runner: `npm run test:runner`. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { KEY, manifest } from '../action/action-world.ts'
import { ACT } from './act.ts'
import { openRunnerWorld, type RunnerWorld } from './runner-world.ts'

if (ACT === undefined) {
  process.stderr.write('No workflow was run, since act is missing: go install github.com/nektos/act@latest\n')
}
const onRunner = test.skipIf(ACT === undefined)

const AS_LIVE = { main: 1, a: 1, b: 1, c: 1 }
const RESIZED = { 'espalier.yaml': manifest({ ...AS_LIVE, main: 4 }) }
const DISPATCH = { name: 'workflow_dispatch', payload: {} }

const sizeOf = async ({ sandbox }: RunnerWorld, compute: string): Promise<number> => {
  const answer = await fetch(`${sandbox.apiUrl}/projects/shop/endpoints/${compute}`, {
    headers: { authorization: `Bearer ${KEY}` },
  })
  const { endpoint } = (await answer.json()) as { endpoint: { autoscaling_limit_max_cu: number } }
  return endpoint.autoscaling_limit_max_cu
}

onRunner('pull-request.yml plans and comments', async () => {
  const world = await openRunnerWorld('pull-request.yml')
  const payload = world.openPull(RESIZED)
  const log = await world.pass({ name: 'pull_request', payload })
  expect(log).not.toContain(KEY)
  expect(world.github.problems).toEqual([])
  expect(world.github.comments[0]?.body).toContain('### Espalier: 1 compute restarts')
})

onRunner('pull-request.yml validates a fork without a key', async () => {
  const world = await openRunnerWorld('pull-request.yml')
  const payload = world.openPull(RESIZED, true)
  const log = await world.pass({ name: 'pull_request', payload }, '')
  expect(log).toContain('This pull request is from a fork')
  expect(world.github.comments).toEqual([])
})

onRunner('pull-request.yml plans a merge group', async () => {
  const world = await openRunnerWorld('pull-request.yml')
  world.openPull(RESIZED)
  const merge_group = { base_sha: world.base, head_sha: world.git('rev-parse', 'HEAD'), base_ref: 'refs/heads/main' }
  const log = await world.pass({ name: 'merge_group', payload: { action: 'checks_requested', merge_group } })
  expect(log).toContain('update primary on main')
})

onRunner.for(['apply.yml', 'restart-window.yml'])(
  '%s applies what was approved, and comments the outcome',
  async (file) => {
    const world = await openRunnerWorld(file, 'pull-request.yml')
    const payload = world.openPull(RESIZED)
    await world.pass({ name: 'pull_request', payload }, undefined, 'pull-request.yml')
    world.approve()
    const push = { name: 'push', payload: world.merge() }
    await world.pass(file === 'apply.yml' ? push : { name: 'schedule', payload: {} })
    expect(world.github.problems).toEqual([])
    expect(world.github.comments[1]?.body).toContain('everything is applied: 1 done')
    expect(await sizeOf(world, 'ep-main')).toBe(4)
  },
)

onRunner('apply.yml, started by hand, saves a plan and applies exactly that', async () => {
  const world = await openRunnerWorld('apply.yml')
  world.push(RESIZED['espalier.yaml'])
  await world.pass(DISPATCH)
  expect(await sizeOf(world, 'ep-main')).toBe(4)
})

onRunner('apply.yml rejects changes that the pull request did not show', async () => {
  const world = await openRunnerWorld('apply.yml')
  world.openPull(RESIZED)
  world.approve()
  const ended = await world.run({ name: 'push', payload: world.merge() })
  expect(ended.code).not.toBe(0)
  expect(ended.log).toContain('E_NOT_APPROVED')
  expect(await sizeOf(world, 'ep-main')).toBe(1)
})

onRunner('drift.yml opens an issue, keeps it open while the service is down, and closes it without drift', async () => {
  const world = await openRunnerWorld('drift.yml')
  world.push(manifest({ ...AS_LIVE, a: 2 }))
  await world.pass(DISPATCH)
  expect(world.github.issues).toMatchObject([{ state: 'open', body: expect.stringContaining('1 computes differ') }])
  expect((await world.run(DISPATCH, 'refused')).code).not.toBe(0)
  expect(world.github.issues).toMatchObject([{ state: 'open', body: expect.stringContaining('The check failed') }])
  world.push(manifest(AS_LIVE))
  await world.pass(DISPATCH)
  expect(world.github.issues).toMatchObject([{ state: 'closed' }])
  expect(world.github.problems).toEqual([])
})

onRunner('forks.yml sets the status of a fork, plans it, and judges it again after its approval', async () => {
  const world = await openRunnerWorld('forks.yml', 'apply.yml')
  const payload = world.openPull(RESIZED, true)
  const merge = world.git('rev-parse', 'HEAD')
  world.git('checkout', '-q', 'main')
  const plan = () => world.pass({ name: 'pull_request_target', payload })
  await plan()
  expect(world.github.comments[0]?.body).toContain('### Espalier: 1 compute restarts')
  world.approve()
  await plan()
  expect(world.github.statuses.map(({ description }) => description)).toEqual([
    'not judged: the manifests are valid, but were not planned',
    'not yet: #7: nobody has approved it',
    'not judged: the manifests are valid, but were not planned',
    'approved',
  ])
  world.git('checkout', '-q', merge)
  await world.pass({ name: 'push', payload: world.merge() }, undefined, 'apply.yml')
  expect(world.github.problems).toEqual([])
  expect(await sizeOf(world, 'ep-main')).toBe(4)
})

onRunner('fleet.yml plans and applies each folder in a job with its own comment', async () => {
  const world = await openRunnerWorld('fleet.yml')
  world.git('rm', '-q', 'espalier.yaml')
  const payload = world.openPull({
    'espalier/storefront/shop.yaml': manifest({ main: 4 }),
    'espalier/payments/billing.yaml': manifest({ b: 1 }),
  })
  await world.pass({ name: 'pull_request', payload })
  expect(world.github.comments).toMatchObject([{ body: expect.stringContaining('1 compute restarts') }])
  expect(new Map(world.github.statuses.map(({ context, state }) => [context, state]))).toEqual(
    new Map([
      ['espalier/approval payments', 'success'],
      ['espalier/approval storefront', 'pending'],
    ]),
  )
  world.approve()
  await world.pass({ name: 'push', payload: world.merge() })
  expect(world.github.problems).toEqual([])
  expect(await sizeOf(world, 'ep-main')).toBe(4)
})

onRunner('try-it.yml needs no account', async () => {
  const world = await openRunnerWorld('try-it.yml')
  world.copy('examples/quickstart')
  const payload = world.openPull({ 'more.txt': 'x' })
  await world.pass({ name: 'pull_request', payload }, '')
  expect(world.github.comments[0]?.body).toContain('### Espalier')
})

onRunner('drift-pull-request.yml opens one pull request with the drifted values', async () => {
  const world = await openRunnerWorld('drift-pull-request.yml')
  world.push(manifest({ ...AS_LIVE, a: 2 }))
  await world.pass(DISPATCH)
  await world.pass(DISPATCH)
  expect(world.github.problems).toEqual([])
  expect(world.github.pulls).toMatchObject([
    { title: 'Write drift into the manifests', head: { ref: 'espalier/drift' }, base: { ref: 'main' } },
  ])
  world.git('fetch', '-q', 'origin')
  expect(world.git('show', 'origin/espalier/drift:espalier.yaml')).toBe(manifest(AS_LIVE).trim())
  expect(await sizeOf(world, 'ep-a')).toBe(1)
})

onRunner('replan.yml plans an open pull request again after another merge', async () => {
  const world = await openRunnerWorld('replan.yml')
  const { head } = world.openPull(RESIZED).pull_request
  world.github.pulls.push({ number: 7, title: '', body: '', head, base: { sha: '', ref: 'main' } })
  world.git('checkout', '-q', 'main')
  await world.pass({ name: 'push', payload: { ref: 'refs/heads/main', after: world.base } })
  expect(world.github.problems).toEqual([])
  expect(world.github.comments).toMatchObject([{ issue: 7, body: expect.stringContaining('1 compute restarts') }])
})

onRunner('sandbox.yml tests an application against its own branch', async () => {
  const world = await openRunnerWorld('sandbox.yml')
  const [port, pids] = [20_000 + (process.pid % 12_000), join(world.folder, '..', 'pids')]
  onTestFinished(() => {
    // GitHub's runner ends processes at the end of a job. act ends them at the end of a step, but not those in a separate
    // session.
    for (const pid of readFileSync(pids, 'utf8').split('\n').filter(Boolean)) process.kill(Number(pid))
  })
  world.write('seed.yaml', readFileSync('examples/sandbox/seed.yaml', 'utf8'))
  world.write(
    'espalier.sh',
    `#!/bin/sh\necho $$ >> ${pids}\nexec setsid node ${resolve('dist/main.js')} "$@" --pg-port 0\n`,
  )
  world.write(
    'package.json',
    JSON.stringify({
      name: 'app',
      private: true,
      scripts: {
        postinstall: 'install -D espalier.sh node_modules/.bin/espalier',
        test: `psql "$DATABASE_URL" -P pager=off -c 'SELECT 6 * 7 AS answer'`,
      },
    }),
  )
  world.write(
    'package-lock.json',
    JSON.stringify({ name: 'app', lockfileVersion: 3, packages: { '': { name: 'app' } } }),
  )
  // Another sandbox may use the default port.
  const workflow = readFileSync('examples/workflows/sandbox.yml', 'utf8')
  world.write(
    '.github/workflows/sandbox.yml',
    workflow.replace(':7788', `:${port}`).replace('sandbox serve', `sandbox serve --port ${port}`),
  )
  const payload = world.openPull({})
  const log = await world.pass({ name: 'pull_request', payload }, '')
  expect(log).toMatch(/answer\s.*\n.*\n.*\b42\b/)
  expect(log).toContain('"name":"pr-7"')
})
