/** A fleet in the Action: several jobs plan its shards, and a job without a key merges the plans. */
import { copyFileSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/index.ts'
import { openGitHubServer } from './github-server.ts'
import { makeRepository, runAction } from './run-action.ts'

const KEY = 'live-key-0123456789'
const PROJECTS = Array.from({ length: 6 }, (_, index) => `fleet-${index}`)
const fleet = (size: number): string =>
  PROJECTS.map((id) => `version: 1\nproject: ${id}\nbranches: { main: { primary: { size: ${size} } } }\n`).join('---\n')

/** Each project has a compute of 1 CU, as the base declares; the pull request declares 4 CU. */
const openFleet = async () => {
  const sandbox = await startSandbox({
    apiKey: KEY,
    timeScale: 200,
    seed: {
      projects: PROJECTS.map((id) => ({
        id,
        branches: [{ name: 'main', computes: [{ id: `ep-${id}`, size: 1, scaleToZero: 'never' }] }],
      })),
    },
  })
  onTestFinished(() => sandbox.close())
  const github = await openGitHubServer()
  const repository = makeRepository()
  repository.write('espalier.yaml', fleet(1))
  const base = repository.commit('base')
  repository.write('espalier.yaml', fleet(4))
  const head = repository.commit('head')
  const event = {
    name: 'pull_request',
    payload: {
      pull_request: { number: 7, base: { sha: base }, head: { sha: head, repo: { full_name: 'acme/shop' } } },
    },
  }
  const artifacts = mkdtempSync(join(tmpdir(), 'espalier-artifacts-'))
  const inputs = { 'base-url': sandbox.apiUrl, 'api-key': KEY, command: 'plan' }
  return {
    sandbox,
    github,
    artifacts,
    plan: async (shard: string, more = {}) => {
      const ended = await runAction({
        repository,
        github,
        event,
        inputs: { ...inputs, shard, comment: 'never', ...more },
      })
      const path = ended.outputs['json-plan-path']
      if (path !== undefined) copyFileSync(path, join(artifacts, basename(path)))
      return ended
    },
    merge: (more = {}) =>
      runAction({
        repository: makeRepository(),
        github,
        event,
        inputs: { command: 'merge', 'plan-file': `${artifacts}/*.json`, ...more },
      }),
    apply: (more: Readonly<Record<string, string>>) =>
      runAction({
        repository,
        github,
        event: { name: 'push', payload: {} },
        sha: head,
        inputs: { ...inputs, ...more },
      }),
  }
}

test('`merge` combines the plans of all shards into one comment, one set of counts and one file', async () => {
  const { plan, merge, github } = await openFleet()
  for (const shard of ['1/3', '2/3', '3/3']) expect((await plan(shard)).code).toBe(0)
  expect(github.requests).toEqual([])
  const { code, log, outputs, summary } = await merge()
  expect(code, log).toBe(0)
  expect(outputs).toMatchObject({
    'to-update': '6',
    restarts: '6',
    drifted: '0',
    'has-changes': 'true',
    'failure-reason': '',
  })
  expect(JSON.parse(readFileSync(outputs['json-plan-path'] ?? '', 'utf8')).projects).toEqual(PROJECTS)
  expect(github.comments).toHaveLength(1)
  for (const text of [summary, github.comments[0]?.body]) {
    expect(text).toContain('### Espalier: 6 computes restart, none is deleted.')
    expect(text).toContain('**Introduced by this pull request**')
  }
  // A second run edits the comment.
  await merge()
  expect(github.comments).toHaveLength(1)
})

test("`merge` fails and sets no counts if a shard's plan is missing", async () => {
  const { plan, merge, github } = await openFleet()
  await plan('1/3')
  expect((await plan('2/3', { 'api-key': 'wrong' })).outputs['json-plan-path']).toBeUndefined()
  await plan('3/3')
  const { code, log, outputs, summary } = await merge()
  expect(code).toBe(1)
  expect(outputs).toMatchObject({ 'failure-reason': 'incomplete', 'to-update': 'unknown', drifted: 'unknown' })
  expect(outputs['json-plan-path']).toBeUndefined()
  expect(log).toContain('::error title=Incomplete::There is no plan for shard 2/3.')
  for (const text of [summary, github.comments[0]?.body]) {
    expect(text).toContain('### Espalier: incomplete, without shard `2/3`')
    expect(text).toContain('the effect of the merge there is unknown')
  }
})

test('if there are no plans, `merge` marks the existing comment as out of date', async () => {
  const { plan, merge, github } = await openFleet()
  await plan('1/1')
  await merge({ label: 'fleet' })
  const { code, outputs } = await merge({ label: 'fleet', 'plan-file': 'nothing/*.json' })
  expect({ code, reason: outputs['failure-reason'] }).toEqual({ code: 1, reason: 'incomplete' })
  expect(github.comments[0]?.body).toContain('### Espalier `fleet`: the plan failed (incomplete)')
})

test('`merge` rejects plans with different numbers of shards, and requires the input `plan-file`', async () => {
  const { plan, merge } = await openFleet()
  await plan('1/2')
  await plan('1/3')
  const different = await merge()
  expect(different.outputs['failure-reason']).toBe('incomplete')
  expect(different.log).toContain('::error title=E_MERGE::')
  const nowhere = await merge({ 'plan-file': '' })
  expect(nowhere.outputs['failure-reason']).toBe('input')
})

test('a shard can be applied alone, with or without its saved plan', async () => {
  const { plan, apply, sandbox } = await openFleet()
  const changed = () =>
    new Set(sandbox.control.requests().flatMap(({ method, path }) => (method === 'PATCH' ? [path.split('/')[4]] : [])))
  const first = await plan('1/2')
  const projects = JSON.parse(readFileSync(first.outputs['json-plan-path'] ?? '', 'utf8')).projects as readonly string[]
  expect(projects.length).toBeLessThan(PROJECTS.length)
  const saved = await apply({ command: 'apply', 'plan-file': first.outputs['plan-path'] ?? '' })
  expect(saved.code, saved.log).toBe(0)
  expect(changed().size).toBe(projects.length)
  const rest = await apply({ command: 'apply', shard: '2/2' })
  expect(rest.code, rest.log).toBe(0)
  expect(changed().size).toBe(PROJECTS.length)
})

test.each(['0/4', '5/4', 'one', '1/701'])('the input `shard` rejects %s', async (shard) => {
  const { plan } = await openFleet()
  const { code, log } = await plan(shard)
  expect(code).toBe(1)
  expect(log).toContain(`The input shard cannot be "${shard}".`)
})
