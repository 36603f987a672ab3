/** How the Action handles each kind of event. */
import { expect, test } from 'vitest'
import { withHead } from './action-world.ts'

test('the plan for a merge group separates introduced changes from drift', async () => {
  const { run, repository, github } = await withHead()
  const [head, base] = [repository.git('rev-parse', 'HEAD'), repository.git('rev-parse', 'HEAD~1')]
  const payload = {
    action: 'checks_requested',
    merge_group: { head_sha: head, base_sha: base, base_ref: 'refs/heads/main' },
  }
  const { code, log, outputs, summary } = await run(
    { command: 'plan' },
    { event: { name: 'merge_group', payload }, sha: head },
  )
  expect(code, log).toBe(0)
  expect(outputs).toMatchObject({ restarts: '4', drifted: '3' })
  expect(summary).toContain('**Introduced by this merge group**')
  expect(summary).toContain('Existing drift: 3 computes')
  expect(github.requests).toEqual([])
})

// promise: applied-before-merge
test('apply is rejected for an open pull request and for a merge group', async () => {
  const { run, event, repository, sandbox } = await withHead()
  const base = repository.git('rev-parse', 'HEAD~1')
  const group = { name: 'merge_group', payload: { merge_group: { base_sha: base } } }
  for (const open of [event, group]) {
    const { code, log, outputs } = await run({ command: 'apply' }, { event: open })
    expect({ code, reason: outputs['failure-reason'] }).toEqual({ code: 1, reason: 'refused' })
    expect(log).toContain(
      '::error title=E_NOT_MERGED::The changes in a pull request are applied only after it is merged.',
    )
  }
  expect(sandbox.control.requests()).toEqual([])
})

// promise: applied-before-merge
test.each([
  ['pull_request', { pull_request: { number: 7 } }],
  ['pull_request_target', {}],
  ['merge_group', { merge_group: {} }],
])('an unreadable payload of %s is rejected', async (name, payload) => {
  const { run, sandbox } = await withHead()
  for (const command of ['plan', 'apply']) {
    const { code, log } = await run({ command }, { event: { name, payload } })
    expect(code).toBe(1)
    expect(log).toContain(
      `::error title=E_INPUT::The payload of the event ${name} does not match GitHub's documentation.`,
    )
  }
  expect(sandbox.control.requests()).toEqual([])
})
