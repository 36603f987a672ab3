/** After a failure, outputs, comments and the summary must not show outdated or unknown values. */
import { expect, test } from 'vitest'
import { FAILURE_REASONS, reasonOfError, reasonOfOutcome } from '../../src/action/failure.ts'
import { ApiError } from '../../src/api/index.ts'
import { EspalierError } from '../../src/base/index.ts'
import { EXPLANATIONS } from '../../src/model/index.ts'
import { open, withHead } from './action-world.ts'

const UNKNOWN = Object.fromEntries(
  [
    'has-changes',
    'to-create',
    'to-update',
    'to-move',
    'to-replace',
    'to-delete',
    'restarts',
    'drifted',
    'scheduled',
  ].map((name) => [name, 'unknown']),
)

// promise: honest-failures
test('a failed job has a reason, sets no counts and marks the comment as out of date', async () => {
  const { run, event, github, repository, sandbox } = await withHead()
  await run({ command: 'plan' }, { event })
  expect(github.comments[0]?.body).toContain('4 computes restart')
  const fails = async (inputs: Readonly<Record<string, string>>, reason: string, code: string) => {
    const failed = await run({ command: 'plan', ...inputs }, { event })
    expect(failed.code, code).toBe(1)
    expect(failed.outputs).toMatchObject({ ...UNKNOWN, 'failure-reason': reason })
    expect(failed.log).toContain(`::error title=${code}::`)
    expect(github.comments).toHaveLength(1)
    for (const text of [failed.summary, github.comments[0]?.body]) {
      expect(text).toContain(`### Espalier: the plan failed (${reason})`)
      expect(text).toContain(`**${code}**`)
      expect(text).toContain('any plan shown here before may be out of date')
    }
    expect(github.comments[0]?.body).not.toContain('computes restart')
  }
  await fails({ 'api-key': 'wrong' }, 'auth', 'E_KEY')
  await fails({ 'fail-on': 'never' }, 'input', 'E_INPUT')
  await fails({ 'api-key': '' }, 'auth', 'E_KEY')
  await sandbox.close()
  await fails({}, 'network', 'E_NETWORK')
  repository.git('mv', 'espalier.yaml', 'elsewhere.yaml')
  await fails({}, 'validation-failed', 'E_NO_MANIFESTS')
})

test('a failure creates no new comment, except with `comment: always`', async () => {
  const { run, event, github } = await withHead()
  await run({ command: 'plan', 'api-key': 'wrong' }, { event })
  expect(github.comments).toEqual([])
  await run({ command: 'plan', 'api-key': 'wrong', comment: 'always' }, { event })
  expect(github.comments).toMatchObject([{ body: expect.stringContaining('the plan failed (auth)') }])
})

test('an apply that fails before its first step replaces the comment from the earlier apply', async () => {
  const { run, event, github, repository } = await withHead()
  const sha = repository.git('rev-parse', 'HEAD')
  github.merged.set(sha, 7)
  const push = { event: { name: 'push', payload: {} }, sha }
  const planned = await run({ command: 'plan' }, { event })
  await run({ command: 'apply' }, push)
  const { outputs, summary } = await run({ command: 'apply', 'plan-file': planned.outputs['plan-path'] ?? '' }, push)
  expect(outputs).toMatchObject({ ...UNKNOWN, 'failure-reason': 'plan-stale' })
  expect(summary).toContain('### Espalier: the apply failed (plan-stale)')
  expect(github.comments[1]?.body).toContain('### Espalier: the apply failed (plan-stale)')
  expect(github.comments[0]?.body).not.toContain('failed')
})

test('a missing working directory is an invalid input, not a bug', async () => {
  const { run } = await open()
  const { code, log, outputs } = await run({ command: 'plan', 'working-directory': 'nowhere' })
  expect({ code, reason: outputs['failure-reason'] }).toEqual({ code: 1, reason: 'input' })
  expect(log).toContain('::error title=E_INPUT::The input working-directory is not a folder: nowhere')
  expect(log).not.toMatch(/bug|\n\s+at /)
})

test('a failure caused by `fail-on` has its own reason, and the counts are still set', async () => {
  const { run, event } = await withHead()
  const { outputs } = await run({ command: 'plan', 'fail-on': 'restarts' }, { event })
  expect(outputs).toMatchObject({ 'failure-reason': 'fail-on', restarts: '4', drifted: '3' })
})

test('the log shows an error that several steps share once, with their number', async () => {
  const { run, sandbox } = await withHead()
  const effect = { kind: 'status', status: 403, message: 'no right to change computes' } as const
  sandbox.control.addFault({ on: 'request', method: 'PATCH', path: '/projects/shop/endpoints/*', effect, times: 0 })
  const { code, log } = await run({ command: 'apply' }, { event: { name: 'push', payload: {} } })
  expect(code, log).toBe(1)
  const [first = '', ...others] = log.split('\n').filter((line) => line.includes('no right to change computes'))
  expect(first).toMatch(/^failed {2}update primary on \w+/)
  expect(others).toEqual([expect.stringMatching(/^failed {2}4 steps \(auth\): /)])
})

// promise: key-in-action
test('the key is masked before anything else is printed, even if an input is invalid', async () => {
  const { run } = await open()
  const { log } = await run({ command: 'destroy', 'api-key': 'a-key-of-somebody' })
  expect(log.split('\n')[0]).toBe('::add-mask::a-key-of-somebody')
})

test.each(Object.keys(EXPLANATIONS).filter((code) => code.startsWith('E_')))(
  'the error code %s has a failure reason',
  (code) => {
    const reason = reasonOfError(new EspalierError(code, 'message'))
    expect(Object.keys(FAILURE_REASONS)).toContain(reason)
    expect(reason).not.toBe('bug')
  },
)

test.each(['E_POLICY_RULE', 'E_IMPORT'])('%s is an error in a manifest or policy, not in an input', (code) => {
  expect(reasonOfError(new EspalierError(code, 'message'))).toBe('validation-failed')
})

test.each([
  [400, 'refused'],
  [401, 'auth'],
  [403, 'auth'],
  [404, 'refused'],
  [423, 'project-busy'],
  [429, 'rate-limited'],
  [500, 'service'],
  [503, 'service'],
])('a response with status %i has the failure reason %s', (status, reason) => {
  expect(reasonOfError(new ApiError('E_API', 'x', { method: 'GET', path: '/', status }))).toBe(reason)
})

test.each([
  ['plan-stale', ['done', 'changed-meanwhile', 'apply-failed']],
  ['auth', ['changed-meanwhile', 'auth']],
  ['operation-timeout', ['operation-timeout', 'changed-meanwhile']],
  ['partially-applied', ['done', 'apply-failed']],
  ['apply-failed', ['apply-failed']],
  [undefined, ['done']],
] as const)('the failure reason is %s if the steps end as %j', (expected, ends) => {
  const steps = ends.map((end) =>
    end === 'done' ? { status: 'done' } : { status: end === 'changed-meanwhile' ? 'stale' : 'failed', reason: end },
  )
  expect(reasonOfOutcome({ steps, interrupted: false, notes: [] } as never)).toBe(expected)
})

test('an unexpected error has the failure reason `bug`', () => {
  expect(reasonOfError(new TypeError('x'))).toBe('bug')
})
