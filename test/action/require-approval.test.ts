/** With `require-approval`, only what a pull request showed before it was approved is applied after the merge. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WEEKDAYS } from '../../src/model/index.ts'
import type { Sandbox } from '../../src/sandbox/index.ts'
import { part } from '../long-runs.ts'
import { KEY, manifest, open, openSandbox } from './action-world.ts'
import type { GitHubServer, StoredReview } from './github-server.ts'
import { copyOf, type Repository, writeCommit } from './run-action.ts'

type Sizes = Readonly<Record<string, number>>
type Files = Readonly<Record<string, string>>

const MINUTE = 60_000
const AS_LIVE = { main: 1, a: 1, b: 1, c: 1 }

// The records that the Action leaves on GitHub name the service, so all tests have the same one.
let sandbox: Sandbox
let asSeeded: ReturnType<Sandbox['control']['dump']>
beforeAll(async () => {
  sandbox = await openSandbox()
  asSeeded = sandbox.control.dump()
})
afterAll(() => sandbox.close())

interface Commit {
  readonly parents: readonly string[]
  /** What it adds to the files of its first parent. */
  readonly files: Files
}

/** What a team has made, to continue from: running the Action again for each test would take most of the time. */
interface Made {
  readonly repository: Repository
  readonly github: Pick<GitHubServer, 'main' | 'comments' | 'history' | 'statuses'>
  readonly commits: ReadonlyMap<string, Commit>
  readonly heads: ReadonlyMap<number, { readonly base: string; readonly sha: string }>
  readonly now: number
}

/** The live computes match `main`. Pull requests are opened, planned, approved and merged as on GitHub. */
const openTeam = async (made?: Made) => {
  sandbox.control.clearFaults()
  sandbox.control.load(asSeeded)
  const world = await open(made && copyOf(made.repository), sandbox)
  const { repository, github, run } = world
  let now = made?.now ?? Date.now() - 60 * MINUTE
  github.now = () => now
  const commits = new Map(made?.commits)
  const filesOf = (sha: string): Files => {
    const { parents: [first] = [], files = {} } = commits.get(sha) ?? {}
    return first === undefined ? files : { ...filesOf(first), ...files }
  }
  /** Adds files to those of the first parent. */
  const commit = (files: Files, ...parents: readonly string[]): string => {
    const [first] = parents
    const sha = writeCommit(repository.folder, { ...(first === undefined ? {} : filesOf(first)), ...files }, parents)
    commits.set(sha, { parents, files })
    return sha
  }
  const checkOut = (sha: string): void => {
    const files = filesOf(sha)
    for (const name of new Set([...commits.values()].flatMap((one) => Object.keys(one.files)))) {
      if (files[name] === undefined) rmSync(join(repository.folder, name), { force: true })
      else repository.write(name, files[name])
    }
    repository.write('.git/HEAD', `${sha}\n`)
  }
  const historyOf = (sha: string): ReadonlySet<string> =>
    new Set([sha, ...(commits.get(sha)?.parents ?? []).flatMap((parent) => [...historyOf(parent)])])
  github.compare = (base, head) => {
    const [before, after] = [historyOf(base), historyOf(head)]
    const status = base === head ? 'identical' : after.has(base) ? 'ahead' : before.has(head) ? 'behind' : 'diverged'
    const between = [...after].filter((sha) => !before.has(sha))
    const names = between.flatMap((sha) => Object.keys(commits.get(sha)?.files ?? {}))
    return { status, files: names.map((filename) => ({ filename })) }
  }
  const heads = new Map(made?.heads)
  if (made === undefined) github.main = commit({ 'espalier.yaml': manifest(AS_LIVE) })
  else {
    const { main, comments, history, statuses } = structuredClone(made.github)
    github.main = main
    for (const { issue, login, body } of comments) github.add(issue, login, body)
    for (const [number, one] of history) github.history.set(number, one)
    github.statuses.push(...statuses)
  }
  const eventOf = (number: number, name: string, ref = 'main') => {
    const { base = '', sha = '' } = heads.get(number) ?? {}
    const side = { ref, repo: { full_name: 'acme/shop' } }
    return { name, payload: { pull_request: { number, base: { ...side, sha: base }, head: { ...side, sha } } } }
  }
  const team = {
    ...world,
    commit,
    made: (): Made => {
      const { main, comments, history, statuses } = github
      const kept = structuredClone({ main, comments, history, statuses })
      return { repository: copyOf(repository), github: kept, commits: new Map(commits), heads: new Map(heads), now }
    },
    pass: (minutes: number) => {
      now += minutes * MINUTE
    },
    now: () => now,
    size: async (compute: string): Promise<number> => {
      const answer = await fetch(`${sandbox.apiUrl}/projects/shop/endpoints/ep-${compute}`, {
        headers: { authorization: `Bearer ${KEY}` },
      })
      return ((await answer.json()) as { endpoint: { autoscaling_limit_max_cu: number } }).endpoint
        .autoscaling_limit_max_cu
    },
    resize: async (compute: string, size: number): Promise<void> => {
      const send = () =>
        fetch(`${sandbox.apiUrl}/projects/shop/endpoints/ep-${compute}`, {
          method: 'PATCH',
          headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
          body: JSON.stringify({ endpoint: { autoscaling_limit_min_cu: size, autoscaling_limit_max_cu: size } }),
        })
      await expect.poll(async () => (await send()).status).toBe(200)
    },
    /** Plans the pull request again. */
    plan: async (
      number: number,
      name = 'pull_request',
      inputs: Readonly<Record<string, string>> = {},
      branch = 'main',
    ) => {
      checkOut(heads.get(number)?.sha ?? '')
      const asked = { command: 'plan', 'require-approval': 'true', ...inputs }
      const { log, outputs } = await run(asked, { event: eventOf(number, name, branch) })
      expect(['', 'policy-denied'], log).toContain(outputs['failure-reason'])
      expect(log).not.toContain('was not set')
      expect(log).not.toContain('No comment was made')
    },
    /** Opens a pull request, or pushes to it, and plans it. */
    propose: async (number: number, sizes: Sizes, files: Files = {}, branch = 'main', base = github.main) => {
      const sha = commit({ 'espalier.yaml': manifest({ ...AS_LIVE, ...sizes }), ...files }, base)
      heads.set(number, { base, sha })
      const before = github.history.get(number)
      github.history.set(number, { author: 'ann', reviews: [], ...before, head: sha, commits: [{ authors: ['ann'] }] })
      await team.plan(number, 'pull_request', {}, branch)
      now += 5 * MINUTE
    },
    approve: (number: number, review: Partial<StoredReview> = {}) => {
      const history = github.history.get(number)
      const head = history?.head ?? ''
      if (history) history.reviews = [...history.reviews, { login: 'rob', at: now, commit: head, ...review }]
      now += MINUTE
    },
    merge: (number: number, how: 'merge' | 'squash or rebase' = 'merge'): string => {
      const { sha = '' } = heads.get(number) ?? {}
      const before = github.main
      github.main = commit(commits.get(sha)?.files ?? {}, before, ...(how === 'merge' ? [sha] : []))
      const history = github.history.get(number)
      if (history) history.merged = { commit: github.main, at: now }
      github.merged.set(github.main, number)
      now += MINUTE
      return before
    },
    /** Runs `apply` for the push of `sha`, by default the newest commit. */
    apply: (
      { before, sha = github.main, name = 'push' }: { before?: string; sha?: string; name?: string } = {},
      inputs: Readonly<Record<string, string>> = {},
      more: object = {},
    ) => {
      checkOut(sha)
      return run(
        { command: 'apply', 'require-approval': 'true', ...inputs },
        {
          sha,
          event: { name, payload: before === undefined ? {} : { before } },
          env: { GITHUB_REF: 'refs/heads/main' },
          ...more,
        },
      )
    },
    status: () => github.statuses.at(-1),
    outcome: (issue: number): string =>
      github.comments.findLast((one) => one.issue === issue && one.body.startsWith('<!-- espalier outcome'))?.body ??
      '',
  }
  return team
}

type Team = Awaited<ReturnType<typeof openTeam>>

let made: Made | undefined
/** Pull request 7 resizes `main` to 4, and rob approves it. */
const approved = async (): Promise<Team> => {
  if (made === undefined) {
    const team = await openTeam()
    await team.propose(7, { main: 4 })
    team.approve(7)
    made = team.made()
  }
  return openTeam(made)
}

// promise: approved-plan
test.each(['merge', 'squash or rebase'] as const)('an approved change is applied after a %s', async (how) => {
  const team = await approved()
  const before = team.merge(7, how)
  const { code, log } = await team.apply({ before })
  expect(code, log).toBe(0)
  expect(await team.size('main')).toBe(4)
  expect(team.outcome(7)).toContain('everything is applied: 1 done')
  expect(team.github.problems).toEqual([])
})

const POLICY =
  'version: 1\npolicies:\n  - { name: small, level: deny, reason: It is paid by us., rule: { maxSize: 2 } }\n'

interface Scenario {
  /** What happens between the approval and the end. Returns how the last run of `apply` ended. */
  readonly act: (team: Team) => Promise<{ readonly code: number | null; readonly log: string }>
  readonly code?: number
  /** The size of the compute of `main` at the end. */
  readonly main: number
  readonly log?: string | RegExp
}

/** Nothing runs without an approval of exactly this. Each starts with an approved pull request from 1 CU to 4. */
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'a re-plan adds a row in the second after the approval': {
    act: async (team) => {
      await team.resize('main', 2)
      team.pass(-1)
      await team.plan(7)
      expect(team.status()).toMatchObject({
        state: 'pending',
        description: expect.stringMatching(/^not yet: #7: shown on .*, less than a minute before the approval/),
      })
      return team.apply({ before: team.merge(7) })
    },
    code: 1,
    main: 2,
    log: /#7: shown on .*, less than a minute before the approval of/,
  },
  'the live value changes after the last plan': {
    act: async (team) => {
      await team.resize('main', 8)
      return team.apply({ before: team.merge(7) })
    },
    code: 1,
    main: 8,
    log: 'no comment on a pull request shows it',
  },
  'the live value changes after the last plan, and changes back later': {
    act: async (team) => {
      await team.resize('main', 8)
      await team.apply({ before: team.merge(7) })
      // Not done, so a later run neither forgets the change nor calls it drift.
      expect((await team.apply({ name: 'schedule' })).outputs['failure-reason']).toBe('not-approved')
      await team.resize('main', 1)
      return team.apply({ name: 'schedule' })
    },
    main: 4,
  },
  '"Update branch" moves the head, and the approval is not renewed': {
    act: async (team) => {
      const history = team.github.history.get(7)
      await team.propose(7, { main: 4 }, { 'note.txt': 'merged from main' })
      if (history) history.commits = [{ authors: ['ann'] }, { authors: ['rob'], isUpdate: true }]
      return team.apply({ before: team.merge(7) })
    },
    code: 1,
    main: 1,
    log: '#7: the approval by rob is for an earlier commit',
  },
  'a plan of a sandbox was approved': {
    act: async (team) => {
      const seed = `projects: [{ id: shop, branches: [${['main', 'a', 'b', 'c'].map((name) => `{ name: ${name}, computes: [{ id: ep-${name}, size: 1, scaleToZero: never }] }`)}] }]\n`
      team.github.comments.length = 0
      team.repository.write('seed.yaml', seed)
      await team.plan(7, 'pull_request', { label: 'x', sandbox: 'seed.yaml', 'api-key': '', 'base-url': '' })
      team.pass(5)
      team.approve(7)
      return team.apply({ before: team.merge(7) }, { label: 'x' })
    },
    code: 1,
    main: 1,
    log: '#7: no plan of its last commit for this branch is recorded',
  },
  'a commit straight to the branch changes something else': {
    act: async (team) => {
      const before = team.merge(7)
      await team.apply({ before })
      const merged = team.github.main
      team.github.main = team.commit({ 'espalier.yaml': manifest({ ...AS_LIVE, main: 8 }) }, merged)
      return team.apply({ before: merged })
    },
    code: 1,
    main: 4,
    log: 'no comment on a pull request shows it',
  },
  'a commit straight to the branch before the merge is applied': {
    act: async (team) => {
      const before = team.merge(7)
      team.github.main = team.commit({ 'espalier.yaml': manifest({ ...AS_LIVE, main: 4, a: 8 }) }, team.github.main)
      const ended = await team.apply({ before })
      // All or nothing: the approved change is in the same project.
      expect(team.outcome(7)).toContain('nothing was applied, because an approval is missing')
      return ended
    },
    code: 1,
    main: 1,
  },
  'drift without approval is skipped, and the approved change is applied': {
    act: async (team) => {
      await team.resize('a', 2)
      return team.apply({ before: team.merge(7) })
    },
    main: 4,
    log: /^::notice::Not applied, because this drift is not approved: update primary on a \(ep-a\) in shop \(size 2 CU → 1 CU\)/m,
  },
  'an older run ends while a newer one has everything': {
    act: async (team) => {
      const before = team.merge(7)
      const older = team.github.main
      await team.propose(8, { main: 4, a: 2 })
      team.approve(8)
      team.merge(8)
      const ended = await team.apply({ before, sha: older })
      expect(ended.log).toContain('::notice::Superseded')
      expect(await team.size('main')).toBe(1)
      // The run of the first merge never happened, or was cancelled: the newer one applies both.
      const newer = await team.apply({ before: older })
      expect(await team.size('a')).toBe(2)
      expect(team.outcome(7)).toContain('everything is applied: 2 done')
      expect(team.outcome(8)).toContain('everything is applied: 2 done')
      return newer
    },
    main: 4,
  },
  'a re-run of an old apply cannot turn back time': {
    act: async (team) => {
      const before = team.merge(7)
      const older = team.github.main
      await team.apply({ before })
      await team.propose(8, { main: 1 })
      team.approve(8)
      const newer = await team.apply({ before: team.merge(8) })
      expect(newer.code, newer.log).toBe(0)
      return team.apply({ before, sha: older })
    },
    main: 1,
    log: '::notice::Superseded',
  },
  'a newer commit without manifests does not supersede': {
    act: async (team) => {
      const before = team.merge(7)
      const sha = team.github.main
      team.github.main = team.commit({ 'README.md': 'x' }, sha)
      return team.apply({ before, sha })
    },
    main: 4,
  },
  'a newer commit that renames a manifest supersedes': {
    act: async (team) => {
      const before = team.merge(7)
      const sha = team.github.main
      team.github.main = team.commit({ 'README.md': 'x' }, sha)
      const files = [{ filename: 'espalier.off', previous_filename: 'espalier.yaml' }]
      team.github.compare = () => ({ status: 'ahead', files })
      return team.apply({ before, sha })
    },
    main: 1,
    log: '::notice::Superseded',
  },
  'two pull requests, of which one is not approved': {
    act: async (team) => {
      await team.propose(8, { main: 4, a: 2 })
      team.merge(7)
      const before = team.merge(8)
      return team.apply({ before })
    },
    code: 1,
    main: 1,
    log: '#8: nobody has approved it',
  },
  'the second approval comes after the merge, and the job is run again': {
    act: async (team) => {
      await team.propose(8, { main: 4, a: 2 })
      team.merge(7)
      const before = team.merge(8)
      await team.apply({ before })
      team.approve(8)
      return team.apply({ before })
    },
    main: 4,
  },
  'two interleaved pull requests change the same compute': {
    act: async (team) => {
      await team.propose(8, { main: 2 })
      team.approve(8)
      const before = team.merge(8)
      await team.apply({ before })
      expect(await team.size('main')).toBe(2)
      // Approved was 1 CU → 4 CU, and the live compute now has 2 CU.
      return team.apply({ before: team.merge(7) })
    },
    code: 1,
    main: 2,
  },
  'a pull request removes the policy that denies it': {
    act: async (team) => {
      team.github.main = team.commit({ 'espalier.policy.yaml': POLICY }, team.github.main)
      await team.propose(8, { main: 4 }, { 'espalier.policy.yaml': 'version: 1\npolicies: []\n' })
      expect(team.status()).toMatchObject({ description: 'no change needs an approval' })
      team.approve(8)
      return team.apply({ before: team.merge(8) })
    },
    code: 1,
    main: 1,
    // What was denied when it was shown cannot be approved.
    log: 'no comment on a pull request shows it',
  },
  'a plan for a branch without the policy is approved, and the pull request is then merged into another': {
    act: async (team) => {
      const { github } = team
      github.main = team.commit({ 'espalier.policy.yaml': POLICY }, github.main)
      const without = { 'espalier.policy.yaml': 'version: 1\npolicies: []\n' }
      await team.propose(8, { main: 4 }, without, 'lax', team.commit(without, github.main))
      team.approve(8)
      return team.apply({ before: team.merge(8) })
    },
    code: 1,
    main: 1,
    log: '#8: no plan of its last commit for this branch is recorded',
  },
  'the manifests at the base have errors': {
    act: async (team) => {
      team.github.main = team.commit({ 'espalier.yaml': 'version: 1\nproject: [\n' }, team.github.main)
      await team.propose(8, { main: 4 })
      team.approve(8)
      return team.apply({ before: team.merge(8) })
    },
    main: 4,
    log: 'have errors, so every change counts as introduced',
  },
  'a step fails, and the job is run again': {
    act: async (team) => {
      const effect = { kind: 'status', status: 403, message: 'not now' } as const
      team.sandbox.control.addFault({ on: 'request', method: 'PATCH', effect, times: 1 })
      const before = team.merge(7)
      expect((await team.apply({ before })).code).toBe(1)
      expect(await team.size('main')).toBe(1)
      return team.apply({ before })
    },
    main: 4,
  },
  'a step waits for its restart window, whose run comes later': {
    act: async (team) => {
      // The day after tomorrow, so that the window stays closed even if the tests run past midnight.
      const day = WEEKDAYS[(new Date().getUTCDay() + 2) % 7]
      const window = `restartWindow: { days: [${day}], from: "02:00", to: "04:00", timezone: UTC }\n`
      await team.propose(8, { main: 2 }, { 'espalier.yaml': manifest({ ...AS_LIVE, main: 2 }) + window })
      team.approve(8)
      const scheduled = await team.apply({ before: team.merge(8) })
      expect(scheduled.outputs, scheduled.log).toMatchObject({ scheduled: '1', 'failure-reason': '' })
      expect(await team.size('main')).toBe(1)
      return team.apply({ name: 'schedule' }, { now: 'true' })
    },
    main: 2,
  },
  'the same without approvals, after a push': {
    act: async (team) => {
      const before = team.commit(
        { 'espalier.policy.yaml': POLICY, 'espalier.yaml': manifest(AS_LIVE) },
        team.github.main,
      )
      team.github.main = team.commit(
        { 'espalier.policy.yaml': 'version: 1\npolicies: []\n', 'espalier.yaml': manifest({ ...AS_LIVE, main: 4 }) },
        before,
      )
      return team.apply({ before }, { 'require-approval': 'false' })
    },
    code: 1,
    main: 1,
    log: 'small',
  },
}

// promise: approved-plan
// promise: forged-comment
test.each(part(Object.entries(SCENARIOS), 2))('%s', async (_name, { act, code = 0, main, log }) => {
  const team = await approved()
  const ended = await act(team)
  expect(ended.code, ended.log).toBe(code)
  if (log !== undefined) expect(ended.log).toMatch(log)
  expect(await team.size('main')).toBe(main)
  expect(team.github.problems).toEqual([])
})

/** Each replaces what a run of `apply` reads about the approved pull request 7, and lets nothing run. */
const FORGED: Readonly<Record<string, (github: GitHubServer) => void>> = {
  '#issuecomment-1 was edited by mallory, so it does not count': ({ comments: [own] }) =>
    Object.assign(own ?? {}, { editor: 'mallory' }),
  // A person deletes the comment.
  'no comment on a pull request shows it': ({ comments }) => comments.splice(0),
  // A user can have the name of the app, and a job on another branch can write with its token.
  'no comment on a pull request shows it.': ({ comments: [own] }) =>
    Object.assign(own ?? {}, { login: 'github-actions' }),
  'no comment on a pull request shows it. ': (github) => Object.assign(github, { login: 'our-app[bot]' }),
  '#7: no plan of its last commit for this branch is recorded': ({ history }) =>
    Object.assign(history.get(7) ?? {}, { head: 'f'.repeat(40) }),
  'Merged more than 30 days ago, so their approvals no longer count: #7.': (github) => {
    const merged = github.history.get(7)?.merged
    Object.assign(merged ?? {}, { at: (merged?.at ?? 0) - 31 * 24 * 60 * MINUTE })
  },
}

// promise: forged-comment
test('nothing is applied if the comment, its author or the merge is not what was approved', async () => {
  const team = await approved()
  const { github, size } = team
  const before = team.merge(7)
  const known = structuredClone({ comment: github.comments[0], history: github.history.get(7), login: github.login })
  for (const [why, forge] of Object.entries(FORGED)) {
    const { comment, history, login } = structuredClone(known)
    if (comment === undefined || history === undefined) throw new Error('nothing was planned')
    github.comments.splice(0, github.comments.length, comment)
    github.history.set(7, history)
    github.login = login
    forge(github)
    const { code, log } = await team.apply({ before })
    expect({ code, size: await size('main') }, `${why}\n${log}`).toEqual({ code: 1, size: 1 })
    expect(log).toContain(why.trim())
  }
})

test('a merge group of three is approved only if each pull request in it is', async () => {
  const team = await approved()
  const { github, run } = team
  await team.propose(8, { main: 4, a: 2 })
  await team.propose(9, { main: 4, a: 2, b: 2 })
  const base = github.main
  const one = team.commit({ 'espalier.yaml': manifest({ ...AS_LIVE, main: 4 }) }, base)
  const two = team.commit({ 'espalier.yaml': manifest({ ...AS_LIVE, main: 4, a: 2 }) }, one)
  const three = team.commit({ 'espalier.yaml': manifest({ ...AS_LIVE, main: 4, a: 2, b: 2 }) }, two)
  github.queue = [
    { number: 7, base, head: one },
    { number: 8, base: one, head: two },
    { number: 9, base: two, head: three },
  ]
  const judged = async () => {
    const merge_group = { head_sha: three, base_sha: base, base_ref: 'refs/heads/main' }
    await run(
      { command: 'plan', 'require-approval': 'true' },
      { event: { name: 'merge_group', payload: { merge_group } }, sha: three },
    )
    return team.status()
  }
  expect(await judged()).toMatchObject({
    sha: three,
    state: 'pending',
    description: 'not yet: #9: nobody has approved it; #8: nobody has approved it (and 1 more)',
  })
  team.approve(8)
  expect(await judged()).toMatchObject({ state: 'pending', description: 'not yet: #9: nobody has approved it' })
  team.approve(9)
  expect(await judged()).toMatchObject({ context: 'espalier/approval', state: 'success', description: 'approved' })
  expect(github.problems).toEqual([])
})

test('a change that is added after the approval is a new comment, and an approval of it counts', async () => {
  const team = await approved()
  expect(team.status()).toMatchObject({ state: 'pending', description: 'not yet: #7: nobody has approved it' })
  await team.plan(7, 'pull_request_review')
  expect(team.status()).toMatchObject({ state: 'success', description: 'approved' })
  const written = team.github.comments.length
  await team.resize('main', 8)
  team.pass(5)
  await team.plan(7)
  expect(team.github.comments).toHaveLength(written + 1)
  expect(team.github.comments[0]?.body).toMatch(
    /^The plan has changed since it was approved: see \[the new comment\]\(https:/,
  )
  await team.plan(7)
  expect(team.github.comments).toHaveLength(written + 1)
  team.pass(5)
  team.approve(7)
  const { code, log } = await team.apply({ before: team.merge(7) })
  expect(code, log).toBe(0)
  expect(await team.size('main')).toBe(4)
})

test('what a run has not done is applied by the next one, also on a schedule', async () => {
  const team = await approved()
  const { github } = team
  await team.propose(8, { main: 4, a: 2 })
  team.approve(8)
  team.merge(7)
  const before = team.merge(8)
  // The run is cancelled after its first step.
  const cancelled = await team.apply({ before }, {}, { interruptAt: 'done  ' })
  expect(cancelled.outputs['failure-reason']).toBe('interrupted')
  const isDone = (number: number): boolean => team.outcome(number).includes('<!-- espalier done')
  expect([isDone(7), isDone(8)].filter(Boolean).length).toBeLessThan(2)
  const { code, log } = await team.apply({ name: 'schedule' })
  expect(code, log).toBe(0)
  expect([await team.size('main'), await team.size('a')]).toEqual([4, 2])
  expect([isDone(7), isDone(8)]).toEqual([true, true])
  // Nothing is left, so nothing is read again or posted.
  const comments = github.comments.map(({ body }) => body)
  expect((await team.apply({ name: 'schedule' })).code).toBe(0)
  expect(github.comments.map(({ body }) => body)).toEqual(comments)
})

test.each([
  [{ 'plan-file': 'plan.json' }, {}, 'cannot be combined with `plan-file`'],
  [{ 'github-token': '' }, {}, 'needs the input github-token'],
  [{}, { env: { GITHUB_REF: 'refs/tags/v1' } }, 'an event on a branch'],
])('the inputs %j and the run %j are rejected', async (inputs, more, message) => {
  const team = await openTeam()
  const { code, log } = await team.apply({}, inputs, more)
  expect(code).toBe(1)
  expect(log).toContain(message)
})

test('nothing is applied if GitHub refuses to show the reviews', async () => {
  const team = await approved()
  const before = team.merge(7)
  team.github.faults.push({ path: /graphql/, status: 403, times: 1 })
  const { outputs, log } = await team.apply({ before })
  expect(outputs['failure-reason']).toBe('not-approved')
  expect(log).toContain('The job needs the permission `pull-requests: read`.')
  expect(await team.size('main')).toBe(1)
})
