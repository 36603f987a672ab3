/** The input that selects projects, and the output with the projects that a pull request changes. */
import { expect, test } from 'vitest'
import { manifest, open, pullRequest } from './action-world.ts'

const other = (size: number): string =>
  `version: 1\nproject: other\nbranches: { main: { primary: { size: ${size} } } }\n`

const kept = (comment: string): string => `version: 1\nproject: kept\nbranches:\n  main:\n${comment}    protect: true\n`

test.each(['plan', 'validate'])(
  '`%s` outputs the ids of projects whose manifests the pull request changes',
  async (command) => {
    const world = await open()
    const { repository, run } = world
    repository.write('other.yaml', other(1))
    repository.write('kept.yaml', kept(''))
    repository.commit('base')
    repository.write('espalier.yaml', `# moved down\n\n${manifest({ main: 1, a: 2, b: 2, c: 2 })}`)
    repository.write('other.yaml', other(2))
    repository.write('kept.yaml', kept('    # for the shop\n'))
    repository.commit('head')
    const inputs = { command, paths: '.', 'api-key': command === 'plan' ? 'x' : '' }
    // The output depends only on git, so it is set even if the service rejects the plan.
    const { outputs } = await run(inputs, { event: pullRequest(world) })
    expect(outputs.projects).toBe('["other"]')
    const all = await run({ ...inputs, command: 'validate' }, { event: { name: 'push', payload: {} } })
    expect(all.outputs.projects).toBe('["kept","other","shop"]')
  },
)

test('with the input `project`, projects that are not selected do not count as removed', async () => {
  const world = await open()
  const { repository, run, github } = world
  repository.write('other.yaml', kept('').replace('kept', 'other'))
  repository.commit('base')
  repository.write('espalier.yaml', `${manifest({ main: 1, a: 2, b: 2, c: 2 })}# a comment\n`)
  repository.commit('head')
  const { log, outputs } = await run({ command: 'plan', paths: '.', project: 'shop' }, { event: pullRequest(world) })
  expect(outputs['to-update'], log).toBe('3')
  expect(github.comments[0]?.body).toContain('3 computes restart')
  expect(github.comments[0]?.body).not.toMatch(/no longer|could not be read/)
})

test('the input `project` restricts plan, apply and comment to the selected project', async () => {
  const world = await open()
  const { repository, run, github } = world
  repository.write('other.yaml', other(1))
  repository.commit('head')
  const inputs = { paths: '.', project: 'sh*' }
  const { code, log, outputs } = await run({ command: 'plan', ...inputs }, { event: pullRequest(world) })
  expect(code, log).toBe(0)
  expect(outputs).toMatchObject({ 'to-update': '3' })
  expect(github.comments[0]?.body).toContain('### Espalier `. sh*`: 3 computes restart')
  const push = { event: { name: 'push', payload: {} } }
  expect(await run({ command: 'apply', ...inputs }, push)).toMatchObject({ code: 0 })
  const none = await run({ command: 'plan', ...inputs, project: 'nothing' }, push)
  expect(none.log).toContain('matches no project of these manifests')
})
