/** Which reviews approve a change, read from GitHub as it describes its GraphQL API. */
import { expect, onTestFinished, test } from 'vitest'
import { approvalOf, judge } from '../../src/action/approval.ts'
import { openGitHub } from '../../src/action/github.ts'
import { readMerged, readQueued, readReviews } from '../../src/action/pull-requests.ts'
import { nextRecord } from '../../src/action/record.ts'
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
