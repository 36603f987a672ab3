/** `espalier agent run` as a process that is killed and immediately restarted on the same data folder. */
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { type RunningProcess, startProcess } from '../e2e/espalier.ts'
import { serve } from '../serve.ts'

const PROJECT = 'quiet-river-12345678'
const SEED = {
  projects: [
    {
      id: PROJECT,
      branches: [
        {
          id: 'br-main-11111111',
          name: 'main',
          computes: [{ id: 'ep-main-11111111', size: 1, scaleToZero: 'never' as const }],
        },
      ],
    },
  ],
}

let folder: string
let sandbox: Sandbox
let receiver: string
let agent: RunningProcess | undefined
/** The titles of the steps that events report. */
const reported: string[] = []
let onRequest: (method: string, path: string) => void = () => undefined

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: join(folder, 'repo') }).toString()
/**
 * Adds a replica and changes the primary. Only the first round changes the size of the primary and so restarts it,
 * because the agent allows three restarts a day.
 */
const commit = async (round: number): Promise<void> => {
  const replicas = Array.from({ length: round }, (_, index) => `r${index + 1}: { size: 0.25 }`).join(', ')
  const primary = `{ size: ${round === 0 ? 1 : 2}, scaleToZero: ${round % 2 === 0 ? 'never' : '10m'} }`
  const main = `primary: ${primary}${round === 0 ? '' : `, replicas: { ${replicas} }`}`
  await writeFile(
    join(folder, 'repo', 'espalier.yaml'),
    `version: 1\nproject: ${PROJECT}\nbranches:\n  main: { ${main} }\n`,
  )
  git('add', '.')
  git('commit', '-qm', String(round))
}
const start = (): RunningProcess => {
  return startProcess(
    [
      ...['agent', 'run', '--repo', join(folder, 'repo'), '--git-interval', '1s', '--data', join(folder, 'data')],
      ...['--listen', '127.0.0.1:0', '--max-restarts', '100'],
      ...['--notify', receiver, '--notify-secret-file', join(folder, 'secret')],
    ],
    { ESPALIER_BASE_URL: sandbox.apiUrl, ESPALIER_API_KEY: sandbox.apiKey },
    folder,
  )
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'espalier-agent-'))
  execFileSync('git', ['init', '-q', '-b', 'main', join(folder, 'repo')])
  await commit(0)
  await writeFile(join(folder, 'secret'), `whsec_${Buffer.alloc(32, 7).toString('base64')}`)
  sandbox = await startSandbox({ seed: SEED, onRequest: (method, path) => onRequest(method, path) })
  sandbox.control.clock.scale = 20
  const { origin } = await serve(async (request, response) => {
    const { data } = JSON.parse(await text(request))
    reported.push(...(data.applied?.done ?? []))
    response.writeHead(204).end()
  })
  receiver = origin
})
afterEach(async () => {
  agent?.child.kill('SIGKILL')
  await agent?.ended
  await sandbox.close()
  await rm(folder, { recursive: true, force: true })
})

const isChange = (method: string): boolean => method !== 'GET'
/** The request after a commit at which the agent is killed. The first change is the create, the second the update. */
const MOMENTS: readonly (readonly [string, (method: string, path: string, changes: number) => boolean])[] = [
  ['the update took effect and was not answered', (method, _, changes) => isChange(method) && changes === 2],
  ['the project was read', (_, path) => path.endsWith('/endpoints')],
  ['the create took effect and was not answered', (method) => isChange(method)],
  ['the operations of the create run', (_, path, changes) => changes === 1 && path.endsWith('/operations')],
  ['the operations of the update run', (_, path, changes) => changes === 2 && path.endsWith('/operations')],
  ['the project is read again', (_, path, changes) => changes === 2 && path.endsWith('/branches')],
]

test('an agent that starts after another was killed during a step completes that step once and reports it', async () => {
  agent = start()
  await agent.says(`${PROJECT}  Synced`)
  const second = await start().ended
  expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining('Another agent uses the data folder') })
  for (const [index, [name, isMoment]] of MOMENTS.entries()) {
    const round = index + 1
    sandbox.control.clearRequests()
    const doomed = agent
    let changes = 0
    onRequest = (method, path) => {
      if (isChange(method)) changes += 1
      if (isMoment(method, path, changes)) doomed.child.kill('SIGKILL')
    }
    await commit(round)
    expect((await doomed.ended).code, name).toBeNull()
    onRequest = () => undefined
    agent = start()
    await agent.says(`${PROJECT}  Synced`)
    const sent = sandbox.control
      .requests()
      .flatMap(({ method, status }) => (isChange(method) ? [`${method} ${status}`] : []))
    expect({ name, sent: sent.sort() }).toEqual({ name, sent: ['PATCH 200', 'POST 201'] })
    await expect.poll(() => reported.length, { message: name }).toBe(2 * round)
  }
  expect(reported.filter((title) => title.startsWith('create replica'))).toEqual(
    MOMENTS.map((_, index) => `create replica "r${index + 1}" on main`),
  )
  expect(reported.filter((title) => title.startsWith('update primary'))).toHaveLength(MOMENTS.length)
  agent.interrupt('SIGTERM')
  expect((await agent.ended).code).toBe(0)
}, 120_000)
