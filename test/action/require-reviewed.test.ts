/** With `require-reviewed`, only changes that the pull request's comment showed are applied after the merge. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { KEY, manifest, open, pullRequest, type World, withHead } from './action-world.ts'

/** `main` is introduced; `a`, `b` and `c` have drifted. Planned on pull request 7, then merged. */
const reviewed = async () => {
  const world = await withHead()
  const { outputs } = await world.run({ command: 'plan' }, { event: world.event })
  return { ...world, outputs, push: pushOf(world) }
}

const pushOf = ({ repository, github }: Pick<World, 'repository' | 'github'>) => {
  const [sha, before] = [repository.git('rev-parse', 'HEAD'), repository.git('rev-parse', 'HEAD~1')]
  github.merged.set(sha, 7)
  github.heads.set(7, sha)
  return { event: { name: 'push', payload: { before, commits: [{ id: sha }] } }, sha }
}

const APPLY = { command: 'apply', 'require-reviewed': 'true' }

const patch = async (world: Pick<World, 'sandbox'>, compute: string, size: number): Promise<void> => {
  const send = () =>
    fetch(`${world.sandbox.apiUrl}/projects/shop/endpoints/${compute}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ endpoint: { autoscaling_limit_min_cu: size, autoscaling_limit_max_cu: size } }),
    })
  // The project is locked while an operation runs.
  await expect.poll(async () => (await send()).status).toBe(200)
}

const writes = ({ sandbox }: Pick<World, 'sandbox'>) =>
  sandbox.control.requests().filter(({ method }) => method !== 'GET')

test('reviewed changes are applied, including drift that the comment showed', async () => {
  const { run, push, github } = await reviewed()
  const { code, log } = await run(APPLY, push)
  expect(code, log).toBe(0)
  expect(log).toContain('Reviewed: #7 at ')
  expect(github.problems).toEqual([])
  expect(github.comments[1]?.body).toContain('### Espalier: apply complete: 4 done')
})

test('reviewed changes are applied even if a compute has been suspended or some drift has disappeared', async () => {
  const world = await reviewed()
  await fetch(`${world.sandbox.apiUrl}/projects/shop/endpoints/ep-main/suspend`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}` },
  })
  await patch(world, 'ep-a', 2)
  const { code, log } = await world.run(APPLY, world.push)
  expect(code, log).toBe(0)
  expect(world.github.comments[1]?.body).toContain('3 done')
})

// promise: reviewed-plan
// hint: Merge a pull request whose plan shows the changes, or apply without require-reviewed.
test('apply is rejected if a compute with an introduced change has changed since the review', async () => {
  const world = await reviewed()
  await patch(world, 'ep-main', 8)
  const before = writes(world).length
  const { code, log, outputs } = await world.run(APPLY, world.push)
  expect({ code, reason: outputs['failure-reason'] }).toEqual({ code: 1, reason: 'not-reviewed' })
  expect(log).toContain('::error title=E_NOT_REVIEWED::One change does not match the plan on the pull request: ')
  expect(log).toContain('update primary on main in shop (size 8 CU → 4 CU)')
  expect(writes(world)).toHaveLength(before)
  expect((await world.run({ command: 'apply' }, world.push)).code).toBe(0)
})

test('drift that has changed since the review is not corrected, but the reviewed changes are applied', async () => {
  const world = await withHead({ main: 4, a: 2, b: 2 })
  await world.run({ command: 'plan' }, { event: world.event })
  await patch(world, 'ep-a', 8)
  const { code, log } = await world.run(APPLY, pushOf(world))
  expect(code, log).toBe(0)
  expect(log).toMatch(/^::notice::Not applied, .*update primary on a in shop \(size 8 CU → 2 CU\)/m)
  expect(world.github.comments.at(-1)?.body).toContain('apply complete: 2 done')
})

// promise: reviewed-plan
test('manifests without a plan on the pull request are rejected', async () => {
  const { run, repository, github } = await reviewed()
  repository.write('espalier.yaml', manifest({ main: 8, a: 2, b: 2, c: 2 }))
  repository.commit('pushed after the plan')
  const late = pushOf({ repository, github })
  const { outputs, log } = await run(APPLY, late)
  expect(outputs['failure-reason']).toBe('not-reviewed')
  expect(log).toContain(`No plan with changes was recorded for #7 at ${late.sha.slice(0, 12)}.`)
})

test('a push without a pull request is rejected', async () => {
  const { run, push, github } = await reviewed()
  github.merged.clear()
  const { outputs, log } = await run(APPLY, push)
  expect(outputs['failure-reason']).toBe('not-reviewed')
  expect(log).toContain('No pull request was merged with the commit ')
})

// promise: forged-review
test.each([
  [
    'was edited by someone else',
    (github: World['github']) => Object.assign(github.comments[0] ?? {}, { editor: 'mallory' }),
  ],
  [
    'was written by someone else',
    (github: World['github']) => {
      const [own] = github.comments.splice(0, 1)
      github.add(7, 'mallory', own?.body ?? '')
    },
  ],
  [
    "was edited by a user with the app's name",
    (github: World['github']) => Object.assign(github.comments[0] ?? {}, { editor: 'github-actions' }),
  ],
  [
    "was written by a user with the app's name",
    (github: World['github']) => {
      const [own] = github.comments.splice(0, 1)
      github.add(7, 'github-actions', own?.body ?? '')
    },
  ],
  ['is about an earlier commit', (github: World['github']) => github.heads.set(7, 'f'.repeat(40))],
])('a plan in a comment that %s does not count as reviewed', async (_what, tamper) => {
  const world = await reviewed()
  tamper(world.github)
  const { outputs } = await world.run(APPLY, world.push)
  expect(outputs['failure-reason']).toBe('not-reviewed')
  expect(writes(world)).toEqual([])
})

test('the error links to the edited comment and names its editor', async () => {
  const { run, push, github } = await reviewed()
  Object.assign(github.comments[0] ?? {}, { editor: 'mallory' })
  expect((await run(APPLY, push)).log).toContain('#issuecomment-1 was edited by mallory, so it does not count.')
})

test('a failure replaces the plan in the comment, and keeps the record of what was shown', async () => {
  const { run, event, push, github } = await reviewed()
  const [, record] = /(<!-- espalier record .*-->)/.exec(github.comments[0]?.body ?? '') ?? []
  await run({ command: 'plan', 'api-key': 'wrong' }, { event })
  expect(github.comments[0]?.body).toContain('the plan failed (auth)')
  expect(github.comments[0]?.body).toContain(record)
  expect((await run(APPLY, push)).outputs['failure-reason']).toBe('')
})

test('a saved plan is applied if its changes were reviewed', async () => {
  const world = await withHead({ main: 4, a: 2, b: 2 })
  await world.run({ command: 'plan' }, { event: world.event })
  await patch(world, 'ep-a', 8)
  const push = pushOf(world)
  const planned = await world.run({ command: 'plan', 'require-reviewed': 'true' }, push)
  expect(planned.code, planned.log).toBe(0)
  const saved = planned.outputs['plan-path'] ?? ''
  expect(JSON.parse(readFileSync(saved, 'utf8')).plan.changes).toHaveLength(2)
  const applied = await world.run({ ...APPLY, 'plan-file': saved }, push)
  expect(applied.code, applied.log).toBe(0)
  // A plan that was saved without `require-reviewed` contains more than the reviewed changes.
  await patch(world, 'ep-main', 8)
  const all = await world.run({ command: 'plan' }, push)
  const refused = await world.run({ ...APPLY, 'plan-file': all.outputs['plan-path'] ?? '' }, push)
  expect(refused.outputs['failure-reason']).toBe('not-reviewed')
})

test('a push from a merge queue may contain several reviewed pull requests', async () => {
  const { run, repository, github } = await reviewed()
  const first = repository.git('rev-parse', 'HEAD')
  repository.write('espalier.yaml', manifest({ main: 4, a: 4, b: 2, c: 2 }))
  const second = repository.commit('second')
  const event = pullRequest({ repository } as World)
  const payload = { pull_request: { ...event.payload.pull_request, number: 8 } }
  await run({ command: 'plan' }, { event: { name: 'pull_request', payload } })
  github.merged.set(first, 7).set(second, 8)
  github.heads.set(7, first).set(8, second)
  const before = repository.git('rev-parse', 'HEAD~2')
  const push = {
    event: { name: 'push', payload: { before, commits: [{ id: first }, { id: second }] } },
    sha: second,
  }
  const { code, log } = await run(APPLY, push)
  expect(code, log).toBe(0)
  expect(log).toContain('Reviewed: #8 at ')
  expect(log).toContain('Reviewed: #7 at ')
})

// promise: reviewed-plan
test.each([
  ['a sandbox', { sandbox: 'seed.yaml', 'api-key': '', 'base-url': '' }],
  ['another control plane', undefined],
])('a plan of %s is not a review', async (_what, inputs) => {
  const world = await withHead()
  world.repository.write(
    'seed.yaml',
    'projects: [{ id: shop, branches: [{ name: main, computes: [{ id: ep-main, size: 1, scaleToZero: never }] }, { name: a, computes: [{ id: ep-a, size: 1, scaleToZero: never }] }, { name: b, computes: [{ id: ep-b, size: 1, scaleToZero: never }] }, { name: c, computes: [{ id: ep-c, size: 1, scaleToZero: never }] }] }]\n',
  )
  const other = await open()
  const { code, log } = await world.run(
    { command: 'plan', ...(inputs ?? { 'base-url': other.sandbox.apiUrl }) },
    { event: world.event },
  )
  expect(code, log).toBe(0)
  expect(world.github.comments[0]?.body).toContain('4 computes restart')
  const applied = await world.run(APPLY, pushOf(world))
  expect(applied.outputs['failure-reason'], applied.log).toBe('not-reviewed')
  expect(writes(world)).toEqual([])
})

test('a run that ends after a newer commit was pushed does not replace its comment', async () => {
  const { run, event, github } = await withHead()
  await run({ command: 'plan' }, { event })
  const { head, base } = event.payload.pull_request
  github.pulls.push({
    number: 7,
    title: '',
    body: '',
    head: { ...head, ref: 'x', sha: 'f'.repeat(40) },
    base: { ...base, ref: 'main' },
  })
  const before = github.comments[0]?.body
  const { code, log } = await run({ command: 'plan', 'api-key': 'wrong' }, { event })
  expect(code).toBe(1)
  expect(log).toContain('::notice::The pull request has a newer commit, so no comment was written.')
  expect(github.comments.map(({ body }) => body)).toEqual([before])
})
