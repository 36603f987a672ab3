/** The shell examples for other CI systems, run unchanged. */
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { EXIT } from '../../src/base/index.ts'
import { KEY, manifest, open } from '../action/action-world.ts'
import { serve } from '../serve.ts'

const MAIN = resolve('dist/main.js')

/** A repository with one changed size and the scripts, and `espalier` on the PATH. */
const openShell = async () => {
  const { repository, sandbox } = await open()
  repository.write('espalier.yaml', manifest({ main: 4, a: 2, b: 2, c: 2 }))
  repository.commit('head')
  const bin = join(repository.folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'espalier'), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`)
  chmodSync(join(bin, 'espalier'), 0o755)
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: repository.folder,
    BASE: 'HEAD~1',
    ESPALIER_API_KEY: KEY,
    ESPALIER_BASE_URL: sandbox.apiUrl,
  }
  const run = (script: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    new Promise<{ readonly code: number; readonly log: string }>((done) => {
      const options = { cwd: repository.folder, env: { ...env, ...more } }
      execFile('sh', [resolve('examples/ci', script), ...args], options, (error, stdout, stderr) =>
        done({ code: typeof error?.code === 'number' ? error.code : 0, log: stdout + stderr }),
      )
    })
  const read = (file: string): string => readFileSync(join(repository.folder, file), 'utf8')
  return { repository, run, read }
}

/** The part of GitLab's API that notes need. */
const openGitLab = async () => {
  const notes: { id: number; body: string; author: { username: string } }[] = []
  const tokens = new Set<string | undefined>()
  const { origin } = await serve(async (request, response) => {
    tokens.add(request.headers['private-token']?.toString())
    const body = new URLSearchParams(await text(request)).get('body') ?? ''
    const [, id] = /notes\/(\d+)$/.exec(request.url ?? '') ?? []
    const known = notes.find((note) => note.id === Number(id))
    if (request.method === 'PUT' && known !== undefined) known.body = body
    if (request.method === 'POST') notes.push({ id: notes.length + 1, body, author: { username: 'bot' } })
    response.end(JSON.stringify(request.url?.endsWith('/user') ? { username: 'bot' } : notes))
  })
  return { notes, tokens, url: `${origin}/api/v4` }
}

test('plan.sh writes the plan and its problems, and gitlab-note.sh creates one note, edits it later, and does not touch other notes', async () => {
  const { repository, run, read } = await openShell()
  const planned = await run('plan.sh', ['espalier.yaml'])
  expect(planned.code, planned.log).toBe(0)
  expect(read('espalier-plan.md')).toContain('### Espalier: 4 computes restart')
  expect(read('espalier-plan.md')).toContain('**Introduced since `HEAD~1`**')
  expect(JSON.parse(read('espalier-plan.json')).changes).toHaveLength(4)
  expect(JSON.parse(read('espalier.sarif')).runs[0].results).toEqual([])
  const gitlab = await openGitLab()
  const env = {
    CI_API_V4_URL: gitlab.url,
    CI_PROJECT_ID: '1',
    CI_MERGE_REQUEST_IID: '7',
    GITLAB_TOKEN: 'gl-token-123',
  }
  gitlab.notes.push({ id: 1, body: '<!-- espalier plan -->\nforged', author: { username: 'mallory' } })
  for (let round = 0; round < 2; round += 1) {
    const { code, log } = await run('gitlab-note.sh', [], env)
    expect(code, log).toBe(0)
  }
  expect(gitlab.notes).toHaveLength(2)
  expect(gitlab.notes[0]?.body).toContain('forged')
  expect(gitlab.notes[1]?.body).toMatch(/^<!-- espalier plan -->\n### Espalier: 4 computes restart/)
  expect([...gitlab.tokens]).toEqual(['gl-token-123'])

  repository.write('espalier.yaml', manifest({ main: 3.5 }))
  const refused = await run('plan.sh', ['espalier.yaml'])
  expect(refused).toMatchObject({ code: 1, log: expect.stringContaining('espalier.yaml:4') })
  expect(JSON.parse(read('espalier.sarif')).runs[0].results).toHaveLength(1)
})

test('in gitlab-ci.yml, only the job that applies is manual and has an environment', () => {
  const jobs = parse(readFileSync('examples/ci/gitlab-ci.yml', 'utf8')) as Record<string, { environment?: string }>
  const applying = Object.entries(jobs).filter(([, job]) => JSON.stringify(job).includes('espalier apply'))
  expect(applying).toMatchObject([
    [
      'espalier-apply',
      { environment: 'production', resource_group: 'espalier', allow_failure: { exit_codes: EXIT.scheduled } },
    ],
  ])
})
