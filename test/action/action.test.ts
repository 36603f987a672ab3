/** The Action against the sandbox and a GitHub on loopback. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { WEEKDAYS } from '../../src/model/index.ts'
import { longTest } from '../long-runs.ts'
import { KEY, manifest, merged, open, pullRequest, type World, withHead } from './action-world.ts'
import { makeRepository, runAction } from './run-action.ts'

// promise: key-in-action
test('the plan of a one-line pull request shows one introduced change and existing drift of three computes separately, and no key', async () => {
  const { run, event, github } = await withHead()
  const { code, log, outputs, summary } = await run({ command: 'plan' }, { event })
  expect(code, log).toBe(0)
  expect(github.problems).toEqual([])
  const [comment] = github.comments
  const [first = '', second = ''] = (comment?.body ?? '').split('Existing drift: ')
  expect(comment?.issue).toBe(7)
  expect(first).toContain('### Espalier: 4 computes restart, none is deleted.')
  expect(first.match(/^\| `~` \|/gm)).toHaveLength(1)
  expect(second).toMatch(/^3 computes\*\*\n\nNot introduced here: .* 3 computes restart/)
  expect(second.match(/^\| `~` \|/gm)).toHaveLength(3)
  expect(first).toContain(`https://github.com/acme/shop/blob/${event.payload.pull_request.head.sha}/espalier.yaml#L4`)
  expect(summary).toContain('### Espalier: 4 computes restart')
  expect(outputs).toMatchObject({
    'has-changes': 'true',
    'to-create': '0',
    'to-update': '4',
    'to-move': '0',
    'to-replace': '0',
    'to-delete': '0',
    restarts: '4',
    drifted: '3',
    'plan-hash': expect.stringMatching(/^[0-9a-f]{64}$/),
    'comment-url': 'https://github.com/acme/shop/pull/7#issuecomment-1',
    'failure-reason': '',
  })
  const [plan = '', saved = ''] = ['json-plan-path', 'plan-path'].map((name) =>
    readFileSync(outputs[name] ?? '', 'utf8'),
  )
  const { changes, origin } = JSON.parse(plan)
  expect(changes).toHaveLength(4)
  expect(origin).toMatchObject({ base: event.payload.pull_request.base.sha })
  expect([origin.introduced, origin.drift].map(({ length }) => length)).toEqual([1, 3])
  expect(log).toMatch(
    /^::warning file=espalier\.yaml,line=4,col=\d+,title=primary on main::restarts: existing connections drop$/m,
  )
  expect(log.match(/^::warning .*existing drift: restarts/gm)).toHaveLength(3)
  // The key is only in the command that masks it.
  expect(log.split('\n').filter((line) => line.includes(KEY))).toEqual([`::add-mask::${KEY}`])
  const elsewhere = [summary, JSON.stringify(outputs), plan, saved, ...github.comments.map(({ body }) => body)]
  expect(elsewhere.join()).not.toContain(KEY)
})

test('a second run edits the existing comment if the plan has changed', async () => {
  const { run, event, github, repository } = await withHead()
  await run({ command: 'plan' }, { event })
  repository.write('espalier.yaml', manifest({ main: 2, a: 2, b: 2, c: 2 }))
  repository.commit('more')
  await run({ command: 'plan' }, { event })
  expect(github.comments).toHaveLength(1)
  expect(github.comments[0]?.body).toContain('2 CU')
  expect(github.requests.filter((line) => line.startsWith('PATCH'))).toHaveLength(1)
})

// promise: own-comments
test('comments by other authors or for other working directories are never edited', async () => {
  const { run, event, github } = await withHead()
  await run({ command: 'plan' }, { event })
  const [mine] = github.comments
  const theirs = github.add(7, 'mallory', mine?.body ?? '')
  const alike = github.add(7, 'github-actions', mine?.body ?? '')
  const elsewhere = github.add(7, 'github-actions[bot]', '<!-- espalier plan 0000000000000000 -->\nelse')
  const quoted = github.add(7, 'github-actions[bot]', `> ${mine?.body}`)
  const before = [theirs, alike, elsewhere, quoted].map(({ body }) => body)
  await run({ command: 'plan' }, { event })
  expect([theirs, alike, elsewhere, quoted].map(({ body }) => body)).toEqual(before)
  expect(github.comments).toHaveLength(5)
})

longTest('the comment is found among 150 others, and created again if it was deleted', async () => {
  const { run, event, github } = await withHead()
  for (let index = 0; index < 150; index += 1) github.add(7, 'someone', `comment ${index}`)
  await run({ command: 'plan' }, { event })
  await run({ command: 'plan' }, { event })
  expect(github.comments).toHaveLength(151)
  expect(github.requests.filter((line) => line === 'GET /repos/acme/shop/issues/7/comments')).toHaveLength(4)
  github.faults.push({
    method: 'PATCH',
    status: 404,
    times: 1,
    also: () => github.comments.splice(150, 1),
  })
  const { outputs } = await run({ command: 'plan' }, { event })
  expect(github.comments).toHaveLength(151)
  expect(outputs['comment-url']).toContain('#issuecomment-152')
})

longTest('with the token of an app or user, the Action finds its earlier comment', async () => {
  const { run, event, github } = await withHead()
  for (const login of ['our-app[bot]', 'octocat']) {
    github.comments.length = 0
    github.login = login
    await run({ command: 'plan' }, { event })
    await run({ command: 'plan' }, { event })
    expect(github.comments).toMatchObject([{ login }])
  }
})

longTest('a request is retried after status 429, a secondary rate limit, and a 5xx response to a GET', async () => {
  const { run, event, github } = await withHead()
  github.faults.push(
    { path: /comments/, status: 429, headers: { 'retry-after': '0' }, times: 2 },
    { path: /comments/, status: 403, headers: { 'retry-after': '0' }, times: 1 },
    { path: /pulls/, method: 'GET', status: 502, times: 1 },
  )
  const { code, log } = await run({ command: 'plan' }, { event })
  expect(code, log).toBe(0)
  expect(github.comments).toHaveLength(1)
  expect(github.faults.map(({ times }) => times)).toEqual([0, 0, 0])
})

test('the request that creates a comment is not repeated after a 502 response', async () => {
  const { run, event, github } = await withHead()
  github.faults.push({ method: 'POST', path: /comments/, status: 502, times: 1 })
  const { code, log } = await run({ command: 'plan' }, { event })
  expect(code).toBe(0)
  expect(log).toContain('::warning::No comment was made.')
  expect(github.requests.filter((line) => line.startsWith('POST /repos'))).toHaveLength(1)
})

test('without permission to comment, a warning names that permission, or with `comment: always`, the job fails', async () => {
  const { run, event, github } = await withHead()
  github.faults.push({ path: /comments/, status: 403, times: 100 })
  const auto = await run({ command: 'plan' }, { event })
  expect(auto).toMatchObject({ code: 0, log: expect.stringContaining('`pull-requests: write`') })
  expect(auto.summary).toContain('### Espalier')
  const always = await run({ command: 'plan', comment: 'always' }, { event })
  expect(always).toMatchObject({ code: 1, log: expect.stringContaining('::error title=E_COMMENT::') })
})

test('`comment: never` sends no request to GitHub, and `comment: auto` creates no comment for an empty plan', async () => {
  const { run, event, github, repository } = await withHead()
  await run({ command: 'plan', comment: 'never' }, { event })
  expect(github.requests).toEqual([])
  repository.write('espalier.yaml', manifest({ main: 1, a: 1, b: 1, c: 1 }))
  await run({ command: 'plan' }, { event })
  expect(github.comments).toEqual([])
  await run({ command: 'plan', comment: 'always' }, { event })
  expect(github.comments[0]?.body).toContain('### Espalier: no changes')
})

test('errors in manifests produce annotations, a comment in place of the plan, and a failure reason', async () => {
  const { run, event, github, repository } = await withHead()
  repository.write('espalier.yaml', 'version: 1\nproject: shop\nbranches:\n  main: { primary: { size: 3.5 } }\n')
  const push = { event: { name: 'push', payload: {} } }
  for (const [command, more] of [
    ['validate', { event }],
    ['plan', { event }],
    ['apply', push],
  ] as const) {
    const { code, log, outputs } = await run({ command }, more)
    expect(code).toBe(1)
    expect(outputs['failure-reason']).toBe('validation-failed')
    expect(log).toMatch(/^::error file=espalier\.yaml,line=4,col=\d+,title=E_\w+::/m)
  }
  expect(github.comments).toHaveLength(1)
  expect(github.comments[0]?.body).toContain('### Espalier: nothing will run: 1 error in the manifests')
  // The next run replaces it with the plan.
  repository.write('espalier.yaml', manifest({ main: 4 }))
  await run({ command: 'plan' }, { event })
  expect(github.comments).toHaveLength(1)
  expect(github.comments[0]?.body).toContain('1 compute restarts')
})

test('the input `fail-on` decides whether a plan that restarts computes but deletes none fails', async () => {
  const { run, event } = await withHead()
  for (const [failOn, code] of [
    ['error', 0],
    ['changes', 1],
    ['deletes', 0],
    ['deletes, restarts', 1],
  ] as const) {
    expect((await run({ command: 'plan', 'fail-on': failOn }, { event })).code, failOn).toBe(code)
  }
})

test('without a key, a pull request from a fork is only validated and gets no comment', async () => {
  const world = await withHead()
  const event = pullRequest(world, true)
  const { code, log, summary } = await world.run({ command: 'plan', 'api-key': '' }, { event })
  expect(code, log).toBe(0)
  expect(log.match(/^::notice::This pull request is from a fork/gm)).toHaveLength(1)
  expect(summary).toContain('the manifests are valid')
  expect(world.github.comments).toEqual([])
})

// hint: Set the input api-key from a secret of the repository; to try it without an account, set the input sandbox.
test('a missing or invalid API key fails with the reason `auth`', async () => {
  const { run } = await withHead()
  const { code, log, outputs } = await run({ command: 'plan', 'api-key': '' })
  expect({ code, reason: outputs['failure-reason'] }).toEqual({ code: 1, reason: 'auth' })
  // An expression would treat an empty output as 0.
  expect(outputs).toMatchObject({ restarts: 'unknown', 'cost-increase': 'unknown' })
  expect(log).toContain('the input api-key')
  const wrong = await run({ command: 'plan', 'api-key': 'wrong' })
  expect({ code: wrong.code, reason: wrong.outputs['failure-reason'] }).toEqual({ code: 1, reason: 'auth' })
  expect((await run({ command: 'plan' })).code).toBe(0)
})

longTest('each working directory has its own comment, with file paths relative to the repository root', async () => {
  const world = await withHead()
  const { repository, run, event, github } = world
  repository.git('mv', 'espalier.yaml', 'other.yaml')
  repository.write('other.yaml', manifest({ main: 4 }))
  repository.git('config', 'core.quotepath', 'off')
  const { mkdirSync } = await import('node:fs')
  mkdirSync(`${repository.folder}/db/prod`, { recursive: true })
  repository.write('db/prod/espalier.yaml', manifest({ a: 4 }))
  repository.commit('moved')
  await run({ command: 'plan', paths: 'other.yaml' }, { event })
  const { log } = await run({ command: 'plan', 'working-directory': 'db/prod' }, { event })
  expect(github.comments).toHaveLength(2)
  expect(log).toContain('::warning file=db/prod/espalier.yaml,line=4')
  expect(github.comments[1]?.body).toContain('/db/prod/espalier.yaml#L4')
})

longTest('the base of a merge commit is its first parent, fetched if the clone is shallow', async () => {
  const world = await open()
  const { repository, run, github } = world
  repository.git('checkout', '-q', '-b', 'feature')
  repository.write('espalier.yaml', manifest({ main: 4, a: 2, b: 2, c: 2 }))
  const headSha = repository.commit('head')
  repository.git('checkout', '-q', 'main')
  repository.write('other.txt', 'the base went on')
  const baseSha = repository.commit('base went on')
  repository.git('merge', '-q', '--no-ff', '-m', 'merge', 'feature')
  const payload = {
    pull_request: { number: 7, base: { sha: baseSha }, head: { sha: headSha, repo: { full_name: 'acme/shop' } } },
  }
  await run({ command: 'plan' }, { event: { name: 'pull_request', payload } })
  expect(github.comments[0]?.body).toContain('Existing drift: 3 computes')

  const shallow = makeRepository()
  repository.git('config', 'uploadpack.allowAnySHA1InWant', 'true')
  shallow.git('remote', 'add', 'origin', `file://${repository.folder}`)
  shallow.git('fetch', '-q', '--depth=1', 'origin', 'main')
  shallow.git('checkout', '-q', 'FETCH_HEAD')
  const again = await run({ command: 'plan' }, { event: { name: 'pull_request', payload }, repository: shallow })
  expect(again.code, again.log).toBe(0)
  expect(github.comments[0]?.body).toContain('Existing drift: 3 computes')
})

test('a plan fails if the base cannot be read, because its policies and safeguards are unknown', async () => {
  const { run, sandbox } = await withHead()
  const payload = {
    pull_request: {
      number: 7,
      base: { sha: '0'.repeat(40) },
      head: { sha: '1'.repeat(40), repo: { full_name: 'acme/shop' } },
    },
  }
  const { code, log, outputs } = await run({ command: 'plan' }, { event: { name: 'pull_request', payload } })
  expect(code).toBe(1)
  expect(outputs['failure-reason']).toBe('git')
  expect(log).toMatch(/The base could not be read.*without `filter` and `sparse-checkout`, and .*`fetch-depth: 0`/)
  expect(sandbox.control.requests()).toEqual([])
})

const SAFE = 'version: 1\nproject: shop\nbranches: { main: { primary: { size: 1 } } }\n'
const POLICY = 'policy:\n  - { name: small, level: deny, reason: cost, rule: { maxSize: 2 } }\n'
const FILE = `version: 1\n${POLICY.replace('policy:', 'policies:')}`
const WINDOW = 'restartWindow: { days: [sun], from: "02:00", to: "04:00", timezone: UTC }\n'

/** A pull request from the first to the second contents of these files. */
const withFiles = async (base: Readonly<Record<string, string>>, head: Readonly<Record<string, string>>) => {
  const world = await open()
  const { repository } = world
  for (const files of [base, head]) {
    for (const [path, text] of Object.entries(files)) repository.write(path, text)
    repository.commit('files')
  }
  return { ...world, event: pullRequest(world) }
}

test.each([
  ['the limits of a restart window', SAFE + WINDOW, SAFE + WINDOW.replace('04:00', '05:00'), 'Sun 02:00'],
  ['the denial of a policy', SAFE + POLICY, SAFE + POLICY.replace('deny', 'warn'), 'level deny → warn'],
])('a pull request that removes %s gets a comment, even if no compute changes', async (_what, before, after, words) => {
  const { run, event, github, sandbox } = await withFiles({ 'espalier.yaml': before }, { 'espalier.yaml': after })
  const { code, log, outputs } = await run({ command: 'plan' }, { event })
  expect(code, log).toBe(0)
  expect(outputs['has-changes']).toBe('false')
  expect(github.comments[0]?.body).toContain(words)
  expect(sandbox.control.requests().length).toBeGreaterThan(0)
})

test('a pull request that changes no manifest and no policy reads nothing, and its comment says so', async () => {
  const files = { 'espalier.yaml': SAFE.replace('size: 1', 'size: 4'), 'espalier.policy.yaml': FILE }
  const world = await withFiles(files, { 'README.md': 'hello' })
  const { code, log, outputs } = await world.run({ command: 'plan', 'fail-on': 'changes' }, { event: world.event })
  expect(code, log).toBe(0)
  expect(outputs).toMatchObject({ 'has-changes': 'false', introduced: '0', drifted: 'unknown', projects: '[]' })
  expect(world.github.comments).toEqual([])
  expect(world.sandbox.control.requests()).toEqual([])
  await world.run({ command: 'plan', comment: 'always' }, { event: world.event })
  expect(world.github.comments[0]?.body).toMatch(
    /### Espalier: no changes\.\s+\*\*What to do:\*\* Nothing but your review\.\s+> No manifest and no policy differs/,
  )
  expect(world.github.comments[0]?.body).not.toContain('matches the manifests')
  // A policy file alone is a reason to plan.
  world.repository.write('espalier.policy.yaml', FILE.replace('maxSize: 2', 'maxSize: 8'))
  world.repository.commit('policy')
  await world.run({ command: 'plan' }, { event: pullRequest(world) })
  expect(world.github.comments[0]?.body).toContain('Changes policy `small`')
})

test('apply on push runs the saved plan and reports each step on the merged pull request', async () => {
  const { run, event, github, repository } = await withHead()
  const planned = await run({ command: 'plan' }, { event })
  const sha = repository.git('rev-parse', 'HEAD')
  github.merged.set(sha, 7)
  const push = { event: { name: 'push', payload: {} }, sha }
  const saved = planned.outputs['plan-path'] ?? ''
  const applied = await run({ command: 'apply', 'plan-file': saved }, push)
  expect(applied.code, applied.log).toBe(0)
  expect(github.problems).toEqual([])
  expect(github.comments).toHaveLength(2)
  expect(github.comments[1]).toMatchObject({
    issue: 7,
    body: expect.stringContaining('### Espalier: everything is applied: 4 done'),
  })
  expect(applied.log).toMatch(/^done {2}update primary on main/m)

  const stale = await run({ command: 'apply', 'plan-file': saved }, push)
  expect({ code: stale.code, reason: stale.outputs['failure-reason'] }).toEqual({ code: 1, reason: 'plan-stale' })
  const nothing = await run({ command: 'apply' }, push)
  expect({ code: nothing.code, changes: nothing.outputs['has-changes'] }).toEqual({ code: 0, changes: 'false' })
  expect(github.comments[1]?.body).toContain('the apply failed')
  const always = await run({ command: 'apply', comment: 'always' }, push)
  expect({ code: always.code, reason: always.outputs['failure-reason'] }).toEqual({ code: 0, reason: '' })
  expect(github.comments[1]?.body).toContain('nothing to apply')
})

test.each([
  ['a change without consent', { allow: 'none' }, 'apply-failed', '🚫 not allowed'],
  ['a plan that exceeds a limit', { 'max-restarts': '1' }, 'policy-denied', '🚫 not allowed'],
])('apply fails for %s', async (_what, inputs, reason, words) => {
  const { run, event, github } = await withHead()
  const { code, outputs } = await run({ command: 'apply', ...inputs }, { event: merged(event) })
  expect({ code, reason: outputs['failure-reason'] }).toEqual({ code: 1, reason })
  expect(github.comments[0]?.body).toContain(words)
})

test('a job with a failed step ends with the reason `partially-applied`, and the comment marks the failed step', async () => {
  const { run, event, github, sandbox } = await withHead()
  sandbox.control.addFault({
    on: 'operation',
    endpoint_id: 'ep-b',
    effect: { kind: 'error', message: 'no host had room' },
  })
  const { code, outputs } = await run({ command: 'apply' }, { event: merged(event) })
  expect({ code, reason: outputs['failure-reason'] }).toEqual({ code: 1, reason: 'partially-applied' })
  const body = github.comments[0]?.body ?? ''
  expect(body).toContain('### Espalier: not everything is applied: 3 done, 1 failed')
  expect(body).toContain('❌ failed')
})

test('a cancelled job starts no new step, completes running steps and reports its progress', async () => {
  const { run, event, github } = await withHead()
  const { code, log, outputs } = await run({ command: 'apply' }, { event: merged(event), interruptAt: '\nstart' })
  expect({ code, reason: outputs['failure-reason'] }).toEqual({ code: 1, reason: 'interrupted' })
  expect(log).toContain('Stopping: no new step starts')
  expect(github.comments[0]?.body).toContain('not everything is applied: 1 done, 3 skipped')
})

test('a job succeeds while steps wait for their restart window, and `now: true` runs them immediately', async () => {
  const { repository, run, event, github } = await withHead()
  // The day after tomorrow, so that the window stays closed even if the tests run past midnight.
  const day = WEEKDAYS[(new Date().getUTCDay() + 2) % 7]
  const window = `restartWindow: { days: [${day}], from: "02:00", to: "04:00", timezone: UTC }\n`
  repository.write('espalier.yaml', `${manifest({ main: 4, a: 2, b: 2, c: 2 })}${window}`)
  repository.commit('window')
  const waiting = await run({ command: 'apply' }, { event: merged(event) })
  expect(waiting.code, waiting.log).toBe(0)
  expect(waiting.outputs).toMatchObject({ scheduled: '4' })
  expect(waiting.log).toMatch(/^::notice::Waiting for a restart window: 4 steps\. The first/m)
  const body = github.comments[0]?.body ?? ''
  expect(body).toContain('### Espalier: nothing has run yet: 4 steps wait for a restart window')
  expect(body).toContain('🕑 scheduled')
  const now = await run({ command: 'apply', now: 'true' }, { event: merged(event) })
  expect(now.outputs).toMatchObject({ scheduled: '0' })
  expect(github.comments.at(-1)?.body).toContain('ran outside their restart windows')
})

test.each<{
  readonly what: string
  /** Removed from espalier.yaml. */
  readonly lines: string
  readonly more?: string
  readonly counts: string
  readonly shown: readonly RegExp[]
}>([
  {
    what: 'computes',
    lines: '  b: { primary: { size: 1 } }\n',
    more: 'version: 1\nproject: shop\nbranches: { c: { primary: { size: 1 } } }\n',
    counts: '2 computes',
    shown: [/`c` \|.*`ep-c`.*`more\.yaml:3`/, /declare it `absent`/],
  },
  {
    what: 'an attribute',
    lines: 'defaults: { scaleToZero: never }\n',
    counts: '1 attribute',
    shown: [/scaleToZero.*live: never.*on.*main.*scaleToZero: (5m|default)/],
  },
])('a pull request that only removes $what gets a comment that lists it as no longer managed', async (removal) => {
  const { lines, more, counts, shown } = removal
  const world = await open()
  const text = `version: 1\nproject: shop\n${lines.startsWith(' ') ? '' : lines}branches:\n  main:\n    primary: { size: 1 }\n${lines.startsWith(' ') ? lines : ''}`
  if (more !== undefined) world.repository.write('more.yaml', more)
  world.repository.write('espalier.yaml', text)
  world.repository.commit('base')
  if (more !== undefined) world.repository.git('rm', '-q', 'more.yaml')
  world.repository.write('espalier.yaml', text.replace(lines, ''))
  world.repository.commit('head')
  const { code, log, summary } = await world.run({ command: 'plan', paths: '.' }, { event: pullRequest(world) })
  expect(code, log).toBe(0)
  const body = world.github.comments[0]?.body ?? ''
  expect(body).toContain(`### Espalier \`.\`: nothing is interrupted. No longer managed, and left as it is: ${counts}.`)
  for (const one of shown) expect(body).toMatch(one)
  expect(body.toLowerCase()).not.toMatch(/no changes|introduces no/)
  expect(summary).toContain(`No longer managed, and left as it is: ${counts}.`)
})

const withBrokenProject = async (): Promise<World> => {
  const world = await open()
  world.repository.write('espalier.yaml', manifest({ main: 4, a: 2, b: 2, c: 2 }))
  world.repository.write('other.yaml', 'version: 1\nproject: other\nbranches: { main: { primary: { size: 1 } } }\n')
  world.repository.commit('a project that is not there')
  return world
}

test('a project that cannot be planned fails the job, and the comment shows the plan for the others', async () => {
  const world = await withBrokenProject()
  const { code, log, outputs } = await world.run({ command: 'plan', paths: '.' }, { event: pullRequest(world) })
  expect({ code, reason: outputs['failure-reason'] }).toEqual({ code: 1, reason: 'validation-failed' })
  expect(log).toMatch(/^::error file=other\.yaml,line=2,.*title=E_PROJECT_UNKNOWN::/m)
  const body = world.github.comments[0]?.body ?? ''
  expect(body).toContain('4 computes restart, none is deleted. 1 of 2 projects could not be planned.')
  expect(body).toContain('**E_PROJECT_UNKNOWN**')
  expect(JSON.parse(readFileSync(outputs['plan-path'] ?? '', 'utf8')).plan.leftOut).toMatchObject([
    { project: 'other' },
  ])
})

test('if a project cannot be planned, apply changes the others and fails', async () => {
  const { run, sandbox } = await withBrokenProject()
  const size = async (): Promise<number> => {
    const answer = await fetch(`${sandbox.apiUrl}/projects/shop/endpoints/ep-main`, {
      headers: { authorization: `Bearer ${KEY}` },
    })
    return ((await answer.json()) as { endpoint: { autoscaling_limit_max_cu: number } }).endpoint
      .autoscaling_limit_max_cu
  }
  const applied = await run({ command: 'apply', paths: '.' })
  expect({ code: applied.code, size: await size(), reason: applied.outputs['failure-reason'] }).toEqual({
    code: 1,
    size: 4,
    reason: 'partially-applied',
  })
  expect(applied.summary).toContain('1 of 2 projects left out')
  expect(applied.summary).toContain('E_PROJECT_UNKNOWN')
})

test('a scheduled run fails on drift with `fail-on: changes`', async () => {
  const { run } = await open()
  const { code, log, outputs, summary } = await run(
    { command: 'plan', 'fail-on': 'changes' },
    { event: { name: 'schedule', payload: {} } },
  )
  expect({ code, drifted: outputs.drifted }).toEqual({ code: 1, drifted: '3' })
  expect(log).toContain('::error title=fail-on::The plan has changes: 3.')
  expect(summary).toContain('**Differences from the manifests**')
})

test('with the input `sandbox`, the sandbox is used instead of an account', async () => {
  const { repository } = await open()
  repository.write(
    'seed.yaml',
    'projects:\n  - id: shop\n    branches:\n      - { name: main, computes: [{ size: 2 }] }\n',
  )
  repository.write('espalier.yaml', manifest({ main: 4 }))
  const { code, outputs } = await runAction({ repository, inputs: { command: 'plan', sandbox: 'seed.yaml' } })
  expect({ code, restarts: outputs.restarts }).toEqual({ code: 0, restarts: '1' })
})

test('names in the log are not interpreted as runner commands', async () => {
  const { repository, run, sandbox } = await open()
  const name = '\n::error::injected'
  await fetch(`${sandbox.apiUrl}/projects/shop/endpoints/ep-main`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ endpoint: { name } }),
  })
  repository.write('espalier.yaml', manifest({ main: 4 }))
  const { log } = await run({ command: 'plan' })
  expect(log).not.toMatch(/^\s*::error::injected/m)
  // The runner also knows an older form of commands, which need not be at the start of a line.
  const seed = '##[error]injected.yaml'
  repository.write(seed, 'projects: [{ id: shop, branches: [{ name: main }] }]\n')
  const validated = await run({ command: 'validate', paths: `espalier.yaml ${seed}` })
  expect(validated.log).toContain('error]injected.yaml')
  expect(validated.log).not.toContain('##[')
})

test.each([
  [{ command: 'destroy' }, 'The input command cannot be "destroy".'],
  [{ 'fail-on': 'error,never' }, 'The input fail-on cannot be "never".'],
  [{ allow: 'everything' }, 'allow cannot be "everything"'],
  [{ 'max-restarts': 'few' }, 'The input max-restarts cannot be "few".'],
])('the error for the invalid input %o names the value', async (inputs, message) => {
  const repository = makeRepository()
  const { code, log } = await runAction({ repository, inputs })
  expect({ code, log }).toMatchObject({ code: 1, log: expect.stringContaining(message) })
  expect(log).not.toMatch(/\n\s+at /)
})
