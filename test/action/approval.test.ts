/** Which reviews approve a change, read from GitHub as it describes its GraphQL API. */
import { expect, onTestFinished, test } from 'vitest'
import { type Approval, approvalOf, judge } from '../../src/action/approval.ts'
import { openGitHub } from '../../src/action/github.ts'
import { type Review, readMerged, readQueued, readReviews } from '../../src/action/pull-requests.ts'
import { digestsOf, nextRecord } from '../../src/action/record.ts'
import type { Change } from '../../src/model/index.ts'
import { world as liveOf, planOf } from '../planner/world.ts'
import { openGitHubServer, type StoredCommit, type StoredReview } from './github-server.ts'

const HEAD = 'a'.repeat(40)
const SHOWN = Date.parse('2027-01-01T12:00:00Z')
const IN_TIME = SHOWN + 60_000

const { changes } = planOf({ branches: { main: { primary: { size: 4 } } } }, liveOf({ main: { primary: { size: 1 } } }))
const RECORD = nextRecord({ head: HEAD, base: 'none', plane: 'sandbox' }, changes, SHOWN / 1_000, undefined)

const openClient = async () => {
  const server = await openGitHubServer()
  const env = { GITHUB_API_URL: server.url, GITHUB_GRAPHQL_URL: `${server.url}/graphql` }
  const client = openGitHub(env, 'gh-token-123', 'acme/shop')
  onTestFinished(() => client.close())
  return { server, client }
}

const ROB: StoredReview = { login: 'rob', at: IN_TIME }
const ANN: readonly StoredCommit[] = [{ authors: ['ann'] }]
const many = <T>(count: number, one: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => one(i))

test.each<[what: string, reviews: readonly StoredReview[], commits: readonly StoredCommit[], why: string]>([
  ['of a user', [ROB], ANN, ''],
  ['of the second page', [...many(100, (i) => ({ ...ROB, login: `u${i}`, commit: 'b'.repeat(40) })), ROB], ANN, ''],
  ['of somebody whose later comment is no opinion', [ROB, { ...ROB, login: 'zoe', state: 'COMMENTED' }], ANN, ''],
  ['of nobody', [], ANN, '#7: nobody has approved it'],
  ['that was dismissed', [{ ...ROB, state: 'DISMISSED' }], ANN, '#7: nobody has approved it'],
  ['that changed to a request for changes', [{ ...ROB, state: 'CHANGES_REQUESTED' }], ANN, '#7: rob requested changes'],
  [
    'beside a request for changes of an earlier commit',
    [ROB, { login: 'zoe', at: 0, state: 'CHANGES_REQUESTED', commit: 'b'.repeat(40) }],
    ANN,
    '#7: zoe requested changes',
  ],
  ['of a reviewer who lost write access', [{ ...ROB, isWriter: false }], ANN, '#7: nobody has approved it'],
  ['of a bot', [{ ...ROB, login: 'robot[bot]' }], ANN, '#7: the approval by robot[bot] is not by a user'],
  [
    'of an earlier commit',
    [{ ...ROB, commit: 'b'.repeat(40) }],
    ANN,
    '#7: the approval by rob is for an earlier commit',
  ],
  ['of the author', [{ ...ROB, login: 'ann' }], ANN, '#7: the approval by ann is by the author of the pull request'],
  [
    'of the author of a commit',
    [ROB],
    [...ANN, { authors: ['rob'] }],
    '#7: the approval by rob is by an author of its commits',
  ],
  ['of a co-author', [ROB], [{ authors: ['ann', 'rob'] }], '#7: the approval by rob is by an author of its commits'],
  [
    'of a committer',
    [ROB],
    [{ authors: ['ann'], committer: 'rob' }],
    '#7: the approval by rob is by an author of its commits',
  ],
  ['of somebody who pressed "Update branch"', [ROB], [...ANN, { authors: ['rob'], isUpdate: true }], ''],
  [
    'of the author of the last of 101 commits',
    [ROB],
    [...many(100, () => ({ authors: ['ann'] })), { authors: ['rob'] }],
    '#7: the approval by rob is by an author of its commits',
  ],
  [
    'of a pull request with too many commits',
    [ROB],
    many(501, () => ({ authors: ['ann'] })),
    '#7: the approval by rob may be by an author of its commits, which are too many to read',
  ],
  ['of a commit whose author has no account', [ROB], [{ authors: [''] }], ''],
  [
    'less than a minute after the plan was shown',
    [{ ...ROB, at: IN_TIME - 1_000 }],
    ANN,
    '#7: shown on Fri 1 Jan 12:00 UTC, less than a minute before the approval of Fri 1 Jan 12:00 UTC',
  ],
  [
    'before the plan was shown',
    [{ ...ROB, at: SHOWN - 420_000 }],
    ANN,
    '#7: shown on Fri 1 Jan 12:00 UTC, after the approval of Fri 1 Jan 11:53 UTC',
  ],
])('an approval %s', async (_what, reviews, commits, why) => {
  const { server, client } = await openClient()
  server.history.set(7, { head: HEAD, author: 'ann', reviews, commits })
  const judged = judge(changes, () => true, [approvalOf(await readReviews(client, 7), RECORD)])
  expect(judged.lacking.map((one) => one.why)).toEqual(why === '' ? [] : [why])
  expect(judged.approved).toEqual(why === '' ? changes : [])
  expect(server.problems).toEqual([])
})

test('the newest approval that counts decides, and deleted accounts have a name', () => {
  const review = { state: 'APPROVED', author: { login: 'rob', type: 'User' }, canPush: true, commit: HEAD }
  const pull = { number: 7, head: HEAD, author: 'ann', committers: new Set(['ann']) }
  const of = (...reviews: readonly Review[]) => approvalOf({ ...pull, reviews }, RECORD).approved
  expect(approvalOf({ ...pull, reviews: [] }, 'no plan is recorded')).toEqual({
    number: 7,
    approved: 'no plan is recorded',
  })
  expect(of({ ...review, at: 1_000 }, { ...review, at: 3_000 }, { ...review, at: 2_000 })).toBe(3)
  const { author: _, ...deleted } = { ...review, at: 1_000 }
  expect(of(deleted)).toBe('the approval by a deleted account is not by a user')
  expect(of({ ...deleted, state: 'CHANGES_REQUESTED' })).toBe('a deleted account requested changes')
})

const [both] = planOf(
  { branches: { main: { primary: { size: 4, scaleToZero: 600 } } } },
  liveOf({ main: { primary: {} } }),
).changes
const [sizeDigest = '', otherDigest = ''] = both === undefined ? [] : digestsOf(both)
const approval = (number: number, approved: number | string, shown: Readonly<Record<string, number>>): Approval => ({
  number,
  record: { ...RECORD, shown: new Map(Object.entries(shown)) },
  approved,
})
const showing = (size: number, other: number) => ({ [sizeDigest]: size, [otherDigest]: other })
const ONLY_SIZE = { [sizeDigest]: 0 }

test.each<[what: string, approvals: readonly Approval[], why: string]>([
  ['one pull request shows', [approval(1, 60, showing(0, 0))], ''],
  ['two show together', [approval(1, 60, ONLY_SIZE), approval(2, 60, { [otherDigest]: 0 })], ''],
  ['one shows in part', [approval(1, 60, ONLY_SIZE)], '#1 shows only a part of it, or other values'],
  ['is shown after the approval', [approval(1, 90, showing(0, 100))], 'Thu 1 Jan 00:01 UTC, after the approval of'],
  ['is shown with it', [approval(1, 60, showing(60, 0))], 'less than a minute before'],
  ['is shown right before it', [approval(1, 60, showing(0, 1))], 'less than a minute before'],
  ['nobody has approved', [approval(1, 'nobody', showing(0, 0))], '#1: nobody'],
  ['two show without approval', [approval(1, 'a', ONLY_SIZE), approval(2, 'b', ONLY_SIZE)], '#1: a; #2: b'],
  ['none shows', [approval(1, 'nobody', {})], 'no comment on a pull request shows it'],
  ['there are no records for', [{ number: 1, approved: 'no record' }], '#1: no record'],
])('a change that %s is approved or not', (_, approvals, why) => {
  if (both === undefined) throw new Error('no change')
  const judged = (change: Change, isIntroduced: boolean) => judge([change], () => isIntroduced, approvals)
  const refused = { ...both, refused: 'protected' }
  const [own] = judged(both, true).lacking
  expect(own?.why ?? '').toContain(why)
  const approved = { approved: [both], lacking: [], drift: [] }
  if (why === '') expect([judged(both, true), judged(both, false)]).toEqual([approved, approved])
  else
    expect([judged(both, true).drift, judged(both, false)]).toEqual([[], { approved: [], lacking: [], drift: [both] }])
  expect(judged(refused, true)).toEqual({ approved: [refused], lacking: [], drift: [] })
  expect(judged(refused, false)).toEqual({ approved: [], lacking: [], drift: [refused] })
})

test('of many merged pull requests, the 100 that were updated last are read', async () => {
  const { server, client } = await openClient()
  for (let number = 1; number <= 130; number += 1) {
    const merged = { commit: HEAD, at: number * 1_000 }
    server.history.set(number, { head: HEAD, author: 'ann', reviews: [], commits: [], merged })
  }
  const read = async (since: number) => {
    const { pulls, isCut } = await readMerged(client, 'main', since)
    return { numbers: pulls.map(({ number }) => number), isCut }
  }
  expect(await read(0)).toEqual({ numbers: many(100, (index) => 130 - index), isCut: true })
  // What was updated before is no longer open, so it does not matter that it is not read.
  expect(await read(40_000)).toMatchObject({ isCut: false })
  expect(server.problems).toEqual([])
})

test('the pull requests of a merge group are those between its base and its head', async () => {
  const { server, client } = await openClient()
  const [main = '', one = '', two = '', three = ''] = [...'0123'].map((digit) => digit.repeat(40))
  server.queue = [
    { number: 7, base: main, head: one },
    { number: 8, base: one, head: two },
    { number: 9, base: two, head: three },
  ]
  const read = (head: string, base: string) => readQueued(client, { branch: 'main', head, base })
  expect(await read(three, main)).toEqual([9, 8, 7])
  expect(await read(two, one)).toEqual([8])
  // GitHub has rebuilt the queue meanwhile.
  expect(await read('f'.repeat(40), main)).toEqual([])
  expect(server.problems).toEqual([])
})
