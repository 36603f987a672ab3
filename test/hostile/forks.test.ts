/** An untrusted pull request, planned by a job that has the key. */
import { existsSync, readFileSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import type { Seed } from '../../src/sandbox/index.ts'
import { longTest, part } from '../long-runs.ts'
import { blob, commitTree, type ForkWorld, openForkWorld } from './fork-world.ts'

const seed: Seed = {
  projects: [
    {
      id: 'shop',
      branches: [
        { name: 'main', computes: [{ id: 'ep-main', size: 1, scaleToZero: 'never' }] },
        {
          name: 'dev',
          computes: [
            { id: 'ep-dev', size: 1, scaleToZero: 'never' },
            { id: 'ep-own', size: 1, type: 'read_only', scaleToZero: 'never' },
          ],
        },
      ],
    },
    { id: 'payroll', branches: [{ name: 'salaries', computes: [{ id: 'ep-salaries', size: 8 }] }] },
  ],
}

const manifest = (
  more = '',
  branches = '  main: { protect: true, primary: { size: 1 } }\n  dev: { primary: { size: 1 } }',
) => `version: 1\nproject: shop\n${more}branches:\n${branches}\n`

const open = (): Promise<ForkWorld> => openForkWorld(seed, { 'espalier.yaml': manifest('prune: false\n') })

const changedTo = async (text: string): Promise<ForkWorld> => {
  const world = await open()
  world.fork.write('espalier.yaml', text)
  world.fork.commit('head')
  world.open()
  return world
}

// promise: fork-code
test('an untrusted pull request is planned from git objects and commented on, and the checkout stays unchanged', async () => {
  const { run, github, checkout } = await changedTo(manifest('', '  main: { protect: true, primary: { size: 4 } }'))
  const before = checkout.git('status', '--porcelain', '--ignored') + checkout.git('rev-parse', 'HEAD')
  const { code, log, outputs } = await run()
  expect(code, log).toBe(0)
  expect(github.comments[0]?.body).toContain('### Espalier: 1 compute restarts, none is deleted.')
  expect(github.comments[0]?.body).not.toContain('could not be')
  expect(checkout.git('status', '--porcelain', '--ignored') + checkout.git('rev-parse', 'HEAD')).toBe(before)
  // The JSON plan is written, but no plan that could be applied.
  expect(existsSync(outputs['json-plan-path'] ?? '')).toBe(true)
  expect(outputs['plan-path']).toBeUndefined()
})

test("without GitHub's merge commit, the head is planned alone, with a note", async () => {
  const world = await open()
  world.fork.write('espalier.yaml', manifest('', '  dev: { primary: { size: 2 } }'))
  world.fork.commit('head')
  world.open({ merge: false })
  const { code, log } = await world.run()
  expect(code, log).toBe(0)
  expect(world.github.comments[0]?.body).toContain('The merge commit could not be fetched')
  expect(world.github.comments[0]?.body).toContain('1 compute restarts')
})

longTest('a merge commit of an older head is ignored', async () => {
  const world = await changedTo(manifest('', '  dev: { primary: { size: 2 } }'))
  world.fork.write('espalier.yaml', manifest('', '  dev: { primary: { size: 8 } }'))
  world.fork.commit('newer')
  world.open({ merge: false })
  await world.run()
  expect(world.github.comments[0]?.body).toContain('8 CU')
  expect(world.github.comments[0]?.body).toContain('The merge commit could not be fetched')
})

// promise: foreign-project
test('a project that the base does not name is rejected without sending a request for it', async () => {
  const { run, github, requests } = await changedTo(
    `${manifest()}---\nversion: 1\nproject: payroll\nbranches: { salaries: { primary: { size: 0.25 } } }\n`,
  )
  const { code, log, outputs } = await run()
  expect(code).toBe(1)
  expect(outputs['failure-reason']).toBe('validation-failed')
  expect(log).toMatch(
    /^::error file=espalier\.yaml,line=\d+,col=\d+,title=E_FORK_PROJECT::No manifest of the base names/m,
  )
  expect(github.comments[0]?.body).toContain('**E_FORK_PROJECT**')
  expect(requests()).toEqual([])
})

longTest('a project that only a renamed manifest in the head names is rejected', async () => {
  const world = await open()
  world.fork.git('mv', 'espalier.yaml', 'espalier.yml')
  world.fork.write('espalier.yml', 'version: 1\nproject: payroll\nbranches: {}\n')
  world.fork.commit('head')
  world.open()
  const { code, log } = await world.run()
  expect(code).toBe(1)
  expect(log).toContain('E_FORK_PROJECT')
  expect(world.requests()).toEqual([])
})

longTest(
  'without a key, validate tells whether a pull request changes a manifest or a policy, also in the status of the approval',
  async () => {
    const policy = 'version: 1\npolicies: []\n'
    const world = await openForkWorld(seed, { 'espalier.yaml': manifest(), 'espalier.policy.yaml': policy })
    const { fork, run, requests, github } = world
    const withStatus = { 'require-approval': 'true' }
    const statuses = (): readonly unknown[] => github.statuses.splice(0).map(({ description }) => description)
    const results: unknown[] = []
    for (const [file, text] of [
      ['README.md', 'hello'],
      ['espalier.policy.yaml', policy.replace('[]', '[{ name: a, level: deny, reason: r, rule: { maxRestarts: 1 } }]')],
      ['espalier.policy.yaml', policy],
      ['espalier.yaml', manifest('', '  dev: { primary: { size: 2 } }')],
    ] as const) {
      fork.write(file, text)
      fork.commit('head')
      github.history.set(7, { head: world.open(), author: 'mallory', reviews: [], commits: [] })
      const { outputs } = await run({ command: 'validate', 'api-key': '', ...withStatus })
      results.push([outputs['failure-reason'], outputs['has-changes'], ...statuses()])
    }
    const [same, changed] = ['no change needs an approval', 'not judged: the manifests are valid, but were not planned']
    expect(results).toEqual([
      ['', 'false', same],
      ['', 'true', changed],
      ['', 'false', same],
      ['', 'true', changed],
    ])
    expect(requests()).toEqual([])
    // GitHub lets no workflow for `pull_request` or `pull_request_review` of a fork set a status.
    expect((await run({ 'api-key': '', ...withStatus }, { name: 'pull_request' })).outputs['failure-reason']).toBe('')
    expect(statuses()).toEqual([])
    await run(withStatus)
    expect(statuses()).toEqual(['not yet: #7: nobody has approved it'])
  },
)

// promise: base-protection
test("the base's protection applies even if the head removes it", async () => {
  const { run, github } = await changedTo(manifest('', '  main: { primary: absent }'))
  const { code, log, outputs } = await run()
  expect(code, log).toBe(0)
  const body = github.comments[0]?.body ?? ''
  expect(body).toContain('is refused')
  expect(body).toContain('no longer protected')
  const plan = JSON.parse(readFileSync(outputs['json-plan-path'] ?? '', 'utf8'))
  expect(plan.steps).toMatchObject([{ kind: 'delete', refused: expect.stringContaining('the base manifest says') }])
})

// promise: base-prune
test('`prune` has no effect if only the head sets it', async () => {
  const { run, github } = await changedTo(manifest('prune: true\n').replace('dev: { primary: { size: 1 } }', 'dev: {}'))
  const { code, log, outputs } = await run()
  expect(code, log).toBe(0)
  const plan = JSON.parse(readFileSync(outputs['json-plan-path'] ?? '', 'utf8'))
  expect(plan.steps).toMatchObject([
    { kind: 'delete', compute: { id: 'ep-dev' }, refused: expect.stringContaining('does not prune') },
  ])
  expect(github.comments[0]?.body).toContain('now deletes what is not declared')
})

// promise: base-window
test("the base's restart window applies even if the head removes it", async () => {
  const window = 'restartWindow: { days: [sun], from: "02:00", to: "04:00", timezone: UTC }\n'
  const world = await openForkWorld(seed, { 'espalier.yaml': manifest(window) })
  world.fork.write('espalier.yaml', manifest('', '  main: { protect: true, primary: { size: 4 } }'))
  world.fork.commit('head')
  world.open()
  const { code, log, outputs } = await world.run()
  expect(code, log).toBe(0)
  expect(world.github.comments[0]?.body).toContain('Sun 02:00–04:00 UTC → any time')
  const plan = JSON.parse(readFileSync(outputs['json-plan-path'] ?? '', 'utf8'))
  expect(plan.steps).toMatchObject([{ kind: 'update', windows: [expect.anything()] }])
})

// promise: fork-code
test('the example workflow checks out no code of the fork and runs only the Action', () => {
  const workflow = parse(readFileSync('examples/workflows/forks.yml', 'utf8'))
  expect(Object.keys(workflow.on)).toEqual(['pull_request_target'])
  const { validate, plan } = workflow.jobs
  for (const { steps } of [validate, plan] as readonly { steps: readonly Record<string, unknown>[] }[]) {
    expect(steps.map(({ uses }) => String(uses).split('@')[0])).toEqual(['actions/checkout', 'espalier-dev/espalier'])
    for (const step of steps) expect(Object.keys(step).sort()).not.toContain('run')
    expect(steps[0]?.with).toEqual({ 'persist-credentials': false })
    expect(JSON.stringify(steps)).not.toMatch(/head|\.title|\.body|\.ref/)
  }
  // The key, and the approval that it needs, are only for pull requests that change a manifest or a policy.
  expect(JSON.stringify(validate)).not.toContain('secrets.')
  expect(plan).toMatchObject({ needs: 'validate', environment: 'espalier-forks' })
  expect(plan.if).toContain("needs.validate.outputs.has-changes == 'true'")
})

// promise: base-limits
test('a policy in the head cannot raise the limits of the base, and its git settings have no effect', async () => {
  const policy = (most: number) =>
    `version: 1\npolicies: [{ name: calm, level: deny, reason: r, rule: { maxRestarts: ${most} } }]\n`
  const world = await openForkWorld(seed, { 'espalier.yaml': manifest(), 'espalier.policy.yaml': policy(0) })
  const { run, fork, open: publish, requests } = world
  fork.write('espalier.yaml', manifest('', '  dev: { primary: { size: 2 } }'))
  fork.write('espalier.policy.yaml', policy(9))
  fork.commit('head')
  publish()
  expect((await run()).outputs).toMatchObject({ 'failure-reason': 'policy-denied', 'policies-denied': 'calm' })
  // Attributes and submodules that the pull request adds do not affect the plan.
  fork.write('espalier.yaml', manifest())
  fork.write('.gitattributes', '*.yaml filter=evil diff=evil merge=evil\n')
  fork.write('.gitmodules', '[submodule "x"]\n path = x\n url = ext::sh -c touch% /tmp/owned\n')
  fork.commit('settings')
  publish()
  expect((await run()).code).toBe(0)
  expect(requests().length).toBeGreaterThan(0)
})

// promise: workflow-commands
longTest('names that contain Markdown, HTML, mentions or terminal codes are escaped', async () => {
  const name = '@octocat ![x](https://evil.example/x)</code><img src=x onerror=alert(1)>`|\u001b[31m::error::x'
  const { run, github } = await changedTo(
    manifest('', `  main: { protect: true, primary: { size: 2, name: ${JSON.stringify(name.slice(0, 64))} } }`),
  )
  const planned = await run()
  expect(planned.code, planned.log).toBe(0)
  const unknown = await changedTo(manifest('', `  ${JSON.stringify(name)}: { primary: { size: 2 } }`))
  const refused = await unknown.run()
  expect(refused.code).toBe(1)
  for (const body of [github.comments[0]?.body ?? '', unknown.github.comments[0]?.body ?? '']) {
    expect(body).toContain('@octocat')
    // Code spans contain no mentions, links or HTML. The renderers' tests check that nothing can end a code span.
    const prose = body.replace(/(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, '')
    expect(prose).not.toMatch(/@octocat|<img|!\[x\]|https:\/\/evil/)
    expect(body).not.toContain('\u001b')
  }
  for (const { log } of [planned, refused]) {
    expect(log).not.toContain('\u001b')
    expect(log).not.toMatch(/^::error::x/m)
  }
})

// promise: fork-links
test.each(
  part(
    [
      ['a file', 'espalier.yaml', '/etc/passwd', ''],
      ['a folder', 'manifests', '/etc', 'manifests'],
      ['a file in a folder', 'more.yaml', '/etc/hostname', '*.yaml'],
    ] as const,
    3,
  ),
)('a link instead of %s is reported and not followed', async (_what, link, target, paths) => {
  const world = await openForkWorld(seed, { 'espalier.yaml': manifest(), 'manifests.txt': '' })
  if (existsSync(join(world.fork.folder, link))) unlinkSync(join(world.fork.folder, link))
  symlinkSync(target, join(world.fork.folder, link))
  world.fork.commit('link')
  world.open()
  const base = paths === 'manifests' ? 'espalier.yaml manifests' : paths
  const { code, log } = await world.run({ paths: base })
  expect(code).toBe(1)
  expect(log).toContain('title=E_OUTSIDE::This is a link or a submodule.')
  expect(log).not.toContain('root:')
  expect(world.requests()).toEqual([])
})

// promise: hostile-tree
test.each(
  part(
    [
      ['..', (id: string) => [['40000', '..', id]] as const],
      ['a name with a slash', (id: string) => [['40000', 'a/../../..', id]] as const],
    ] as const,
    2,
  ),
)('a git tree with a path that leaves the folder through %s is rejected', async (_what, entries) => {
  const world = await open()
  const inner = commitTree(world.fork, [['100644', 'owned.yaml', blob(world.fork, manifest())]])
  const tree = world.fork.git('rev-parse', `${inner}^{tree}`)
  world.fork.git('reset', '-q', '--soft', commitTree(world.fork, entries(tree)))
  world.open()
  const { code, log } = await world.run()
  expect(code).toBe(1)
  expect(log).toContain('title=E_GIT::')
  expect(existsSync(join(world.checkout.folder, '..', 'owned.yaml'))).toBe(false)
  expect(world.requests()).toEqual([])
})

// promise: hostile-tree
longTest('a git tree with a billion paths is rejected when its listing reaches 64 MiB', async () => {
  const world = await open()
  let tree = world.fork.git(
    'rev-parse',
    `${commitTree(world.fork, [['100644', 'a.yaml', blob(world.fork, 'x')]])}^{tree}`,
  )
  for (let level = 0; level < 9; level += 1) {
    const entries = Array.from({ length: 10 }, (_, index) => ['40000', `d${index}`, tree] as const)
    tree = world.fork.git('rev-parse', `${commitTree(world.fork, entries)}^{tree}`)
  }
  world.fork.git('reset', '-q', '--soft', world.fork.git('commit-tree', tree, '-p', 'HEAD', '-m', 'bomb'))
  world.open()
  const { code, log } = await world.run()
  expect(code).toBe(1)
  expect(log).toContain('title=E_GIT::git ls-tree prints more than 64 MiB.')
})

// promise: head-checkout
// hint: Remove `ref` from actions/checkout: the head is read from git without a checkout.
test.each(
  part(
    [
      ['the head', (head: string) => head],
      ['the merge commit', () => 'refs/pull/7/merge'],
    ] as const,
    2,
  ),
)('a job that checked out %s fails without a plan', async (_what, ref) => {
  const { run, checkout, fork, requests } = await changedTo(manifest())
  checkout.git('fetch', '-q', '--depth=2', 'origin', ref(fork.git('rev-parse', 'HEAD')))
  checkout.git('checkout', '-q', 'FETCH_HEAD')
  const { code, log } = await run()
  expect(code).toBe(1)
  expect(log).toContain('title=E_FORK_CHECKOUT::')
  expect(requests()).toEqual([])
  checkout.git('checkout', '-q', '-')
  expect((await run()).code).toBe(0)
})

// promise: applied-before-merge
test('an untrusted pull request cannot be applied before the merge', async () => {
  const { run, requests, checkout } = await changedTo(manifest('', '  dev: { primary: { size: 4 } }'))
  const refused = await run({ command: 'apply' })
  expect(refused.code).toBe(1)
  expect(refused.log).toContain('title=E_NOT_MERGED::')
  expect(requests()).toEqual([])
  // A job for a fork's pull request, with a key but with the wrong event.
  expect((await run({ command: 'apply' }, { name: 'pull_request' })).log).toContain('E_NOT_MERGED')
  checkout.write('espalier.yaml', manifest('', '  dev: { primary: { size: 4 } }'))
  const applied = await run({ command: 'apply' }, { merged: true })
  expect(applied.code, applied.log).toBe(0)
  expect(requests().some(({ method }) => method === 'PATCH')).toBe(true)
})

test('with a key, a pull request from a fork is always untrusted', async () => {
  const { run, checkout, requests } = await changedTo('version: 1\nproject: payroll\nbranches: {}\n')
  checkout.git('fetch', '-q', '--depth=2', 'origin', 'refs/pull/7/merge')
  checkout.git('checkout', '-q', 'FETCH_HEAD')
  const { code, log } = await run({}, { name: 'pull_request' })
  expect(code).toBe(1)
  expect(log).toContain('E_FORK_PROJECT')
  expect(requests()).toEqual([])
})

longTest('a base without manifests, or with errors, allows no project', async () => {
  for (const base of [{ 'README.md': '' }, { 'espalier.yaml': 'version: 1\nproject: [\n' }]) {
    const world = await openForkWorld(seed, base as Readonly<Record<string, string>>)
    world.fork.write('espalier.yaml', manifest())
    world.fork.commit('head')
    world.open()
    const { code, log } = await world.run()
    expect(code).toBe(1)
    expect(log).toContain('title=E_BASE::')
    expect(world.requests()).toEqual([])
  }
})
