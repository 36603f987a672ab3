import { expect, test } from 'vitest'
import { GUARDED, MAIN, type Opened, openSandbox, operationsOf, P, PRIMARY } from './open-sandbox.ts'

const DAY = 86_400_000
const OTHER = '/projects/tiny-pond-00000001'

const openDeleted = async (): Promise<Opened> => {
  const opened = await openSandbox()
  await opened.call('PATCH', `${P}/branches/${GUARDED}`, { branch: { protected: false } })
  await opened.call('DELETE', P)
  return opened
}
const actionsIn = ({ sandbox }: Opened): readonly string[] =>
  sandbox.control
    .dump()
    .changes.flatMap((change) =>
      'put' in change && change.put.kind === 'operation' && `/projects/${change.put.projectId}` === P
        ? [change.put.action]
        : [],
    )

test('a deleted project can be recovered for a week, with idle computes that keep their host names', async () => {
  const { call, settle, clock } = await openDeleted()
  expect((await call('GET', '/projects?recoverable=true')).body.projects).toMatchObject([
    { name: 'shop', deleted_at: '2026-01-01T00:00:00Z', recoverable_until: '2026-01-08T00:00:00Z' },
  ])
  expect((await call('GET', '/projects')).body.projects).toHaveLength(1)
  await settle()
  await clock.advance(6 * DAY)
  expect(await call('GET', P)).toMatchObject({ status: 404 })
  const recovered = await call('POST', `${P}/recover`)
  expect(recovered).toMatchObject({ status: 200, body: { project: { name: 'shop' } } })
  expect(recovered.body.project).not.toHaveProperty('deleted_at')
  expect(recovered.body.branches).toHaveLength(4)
  await settle()
  const { operations } = (await call('GET', `${P}/operations?limit=1`)).body
  expect(operations).toMatchObject([{ action: 'tenant_attach', branch_id: MAIN, status: 'finished' }])
  const { endpoint } = (await call('GET', `${P}/endpoints/${PRIMARY}`)).body
  expect(endpoint).toMatchObject({ current_state: 'idle', host: expect.stringContaining(PRIMARY) })
  expect(operationsOf(await call('POST', `${P}/endpoints/${PRIMARY}/start`))).toEqual(['start_compute running'])
  await clock.advance(30 * DAY)
  expect((await call('GET', P)).status).toBe(200)
})

test("a deleted project's data is deleted after a week", async () => {
  const opened = await openDeleted()
  const { call, settle, clock } = opened
  await settle()
  expect(actionsIn(opened)).toEqual(['tenant_detach'])
  await clock.advance(7 * DAY)
  await settle()
  expect(actionsIn(opened).at(-1)).toBe('delete_tenant')
  expect(await call('POST', `${P}/recover`)).toMatchObject({ status: 404 })
  expect((await call('GET', '/projects?recoverable=true')).body.projects).toEqual([])
})

test('only the last ten deleted projects can be recovered', async () => {
  const { call, settle, clock } = await openSandbox()
  for (let count = 0; count < 12; count += 1) {
    const { id } = (await call('POST', '/projects', { project: { name: `p${count}` } })).body.project
    await settle()
    await call('DELETE', `/projects/${id}`)
    await settle()
    await clock.advance(1_000)
  }
  const { projects } = (await call('GET', '/projects?recoverable=true&limit=100')).body
  expect(projects.map(({ name }: { name: string }) => name).sort()).toEqual(
    Array.from({ length: 10 }, (_, index) => `p${index + 2}`).sort(),
  )
})

test('only deleted projects can be recovered', async () => {
  const { call } = await openSandbox()
  expect(await call('POST', `${OTHER}/recover`)).toMatchObject({ status: 422 })
  expect(await call('POST', '/projects/nowhere/recover')).toMatchObject({ status: 404 })
})

test('computes of a deleted project cannot be started', async () => {
  const { sandbox, settle } = await openDeleted()
  await settle()
  await expect(sandbox.control.connect(PRIMARY)).rejects.toMatchObject({ sqlState: '08004' })
  expect((await sandbox.control.computes()).map(({ id }) => id)).not.toContain(PRIMARY)
})
