/** Roles, databases and connection strings with simulated computes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  type Answer,
  EMPTY,
  IDLE,
  MAIN,
  openSandbox,
  operationsOf,
  P,
  PRIMARY,
  REPLICA,
  STAGING,
} from './open-sandbox.ts'

const roles = `${P}/branches/${MAIN}/roles`
const databases = `${P}/branches/${MAIN}/databases`
const names = ({ body }: Answer, list: 'roles' | 'databases') => body[list].map(({ name }: { name: string }) => name)

test("a role's password is shown only on creation and by reveal_password", async () => {
  const { call, settle } = await openSandbox()
  const made = await call('POST', roles, { role: { name: 'sally' } })
  expect(made).toMatchObject({
    status: 201,
    body: { role: { name: 'sally', branch_id: MAIN, protected: false, authentication_method: 'password' } },
  })
  expect(operationsOf(made)).toEqual(['apply_config running'])
  const { password } = made.body.role
  expect(password).toMatch(/^npg_\w{20,}$/)
  await settle()
  expect((await call('GET', `${roles}/sally`)).body.role).not.toHaveProperty('password')
  expect((await call('GET', `${roles}/sally/reveal_password`)).body).toEqual({ password })
  expect(names(await call('GET', roles), 'roles')).toEqual(['neondb_owner', 'sally'])

  const reset = await call('POST', `${roles}/sally/reset_password`)
  expect(operationsOf(reset)).toEqual(['apply_config running'])
  expect(reset.body.role.password).not.toBe(password)
  await settle()
  expect((await call('GET', `${roles}/sally/reveal_password`)).body).toEqual({ password: reset.body.role.password })

  expect(operationsOf(await call('DELETE', `${roles}/sally`))).toEqual(['apply_config running'])
  await settle()
  expect((await call('DELETE', `${roles}/sally`)).status).toBe(204)
  expect((await call('GET', `${roles}/sally`)).status).toBe(404)
})

test('a role that cannot log in has no password', async () => {
  const { call, settle } = await openSandbox()
  const made = await call('POST', roles, { role: { name: 'group', no_login: true } })
  expect(made.body.role).toMatchObject({ authentication_method: 'no_login' })
  expect(made.body.role).not.toHaveProperty('password')
  await settle()
  expect((await call('GET', `${roles}/group/reveal_password`)).status).toBe(412)
  expect((await call('POST', `${roles}/group/reset_password`)).status).toBe(422)
})

test('a database can be created, renamed, assigned to another owner, and deleted', async () => {
  const { call, settle } = await openSandbox()
  await call('POST', roles, { role: { name: 'sally' } })
  await settle()
  const made = await call('POST', databases, { database: { name: 'shop', owner_name: 'neondb_owner' } })
  expect(made).toMatchObject({ status: 201, body: { database: { name: 'shop', owner_name: 'neondb_owner' } } })
  expect(operationsOf(made)).toEqual(['apply_config running'])
  await settle()
  const changed = await call('PATCH', `${databases}/shop`, { database: { name: 'store', owner_name: 'sally' } })
  expect(changed).toMatchObject({
    status: 200,
    body: { database: { id: made.body.database.id, name: 'store', owner_name: 'sally' } },
  })
  await settle()
  expect((await call('PATCH', `${databases}/store`, { database: {} })).body.operations).toEqual([])
  expect(await call('DELETE', `${roles}/sally`)).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('owns the database store') },
  })
  expect(names(await call('GET', databases), 'databases')).toEqual(['neondb', 'store'])
  expect((await call('DELETE', `${databases}/store`)).status).toBe(200)
  await settle()
  expect((await call('DELETE', `${databases}/store`)).status).toBe(204)
  const again = await call('POST', databases, { database: { name: 'store', owner_name: 'neondb_owner' } })
  expect(again.body.database.id).not.toBe(made.body.database.id)
  expect((await call('DELETE', `${databases}/store`)).status).toBe(423)
  await settle()
  await call('DELETE', `${databases}/store`)
  expect((await call('GET', `${databases}/store`)).status).toBe(404)
})

test('a change starts and suspends an idle primary, and needs no operation on a branch without a compute', async () => {
  const { call, settle } = await openSandbox()
  const woken = await call('POST', `${P}/branches/${STAGING}/roles`, { role: { name: 'sally' } })
  expect(operationsOf(woken)).toEqual(['apply_config running', 'suspend_compute scheduling'])
  expect((await call('POST', `${P}/branches/${STAGING}/roles`, { role: { name: 'tom' } })).status).toBe(423)
  await settle()
  expect((await call('GET', `${P}/endpoints/${IDLE}`)).body.endpoint).toMatchObject({ current_state: 'idle' })
  const bare = await call('POST', `${P}/branches/${EMPTY}/roles`, { role: { name: 'sally' } })
  expect(bare).toMatchObject({ status: 201, body: { operations: [] } })
})

test('a branch inherits roles, passwords and databases from its parent', async () => {
  const { call, settle } = await openSandbox()
  await call('POST', roles, { role: { name: 'sally' } })
  await settle()
  const { body } = await call('POST', `${P}/branches`, { branch: { name: 'dev', parent_id: MAIN } })
  expect(body).toMatchObject({ roles: [{ name: 'neondb_owner' }, { name: 'sally' }], connection_uris: [] })
  await settle()
  const reveal = async (branch: string) =>
    (await call('GET', `${P}/branches/${branch}/roles/sally/reveal_password`)).body.password
  expect(await reveal(body.branch.id)).toBe(await reveal(MAIN))
  await call('DELETE', `${P}/branches/${body.branch.id}/roles/sally`)
  await settle()
  expect(names(await call('GET', roles), 'roles')).toContain('sally')
})

test('the response for a new branch with one compute, role and database includes a connection string', async () => {
  const { call } = await openSandbox()
  const { body } = await call('POST', `${P}/branches`, { branch: { name: 'dev' }, endpoints: [{ type: 'read_write' }] })
  const [{ connection_uri }] = body.connection_uris
  expect(connection_uri).toMatch(new RegExp(`^postgresql://neondb_owner:npg_\\w+@${body.endpoints[0].host}/neondb`))
})

test('a connection string contains the requested compute, role and database', async () => {
  const { call } = await openSandbox()
  const ask = (more = '') => call('GET', `${P}/connection_uri?role_name=neondb_owner&database_name=neondb${more}`)
  expect((await ask()).body.uri).toContain(`@${PRIMARY}.`)
  expect((await ask('&pooled=true')).body.uri).toContain(`@${PRIMARY}-pooler.`)
  for (const spelled of ['True', 'TRUE']) expect((await ask(`&pooled=${spelled}`)).body.uri).toContain('-pooler.')
  expect((await ask('&pooled=False')).body.uri).not.toContain('-pooler.')
  expect((await ask('&pooled=1')).body.message).toBe('pooled: must be true or false')
  expect((await ask(`&branch_id=${STAGING}`)).body.uri).toContain(`@${IDLE}.`)
  expect((await ask(`&endpoint_id=${REPLICA}`)).body.uri).toContain(`@${REPLICA}.`)
  expect((await ask(`&endpoint_id=${REPLICA}&branch_id=${MAIN}`)).status).toBe(400)
  expect((await ask(`&branch_id=${EMPTY}`)).status).toBe(404)
  expect((await call('GET', `${P}/connection_uri?role_name=nobody&database_name=neondb`)).status).toBe(404)
  expect((await call('GET', `${P}/connection_uri?role_name=neondb_owner`)).body.message).toBe(
    'database_name: is required',
  )
})

test.each([
  ['POST', roles, { role: { name: 'neondb_owner' } }, 409, 'role already exists'],
  ['POST', roles, { role: { name: 'neon_superuser' } }, 400, 'role.name: is a reserved name'],
  ['POST', roles, { role: {} }, 400, 'role.name: is required'],
  ['POST', databases, { database: { name: 'neondb', owner_name: 'neondb_owner' } }, 409, 'database already exists'],
  ['POST', databases, { database: { name: 'shop', owner_name: 'nobody' } }, 404, 'role not found: nobody'],
  ['PATCH', `${databases}/neondb`, { database: { owner_name: 'nobody' } }, 404, 'role not found: nobody'],
  ['PATCH', `${databases}/none`, { database: { name: 'x' } }, 404, 'database not found: none'],
  ['GET', `${P}/branches/br-none/roles`, undefined, 404, 'branch not found'],
])('%s %s with %j returns %i', async (method, path, body, status, message) => {
  const { call } = await openSandbox()
  expect(await call(method, path, body)).toMatchObject({ status, body: { message: expect.stringContaining(message) } })
})

test('reading the schema of a simulated compute returns an error', async () => {
  const { call } = await openSandbox()
  for (const path of [
    `${P}/branches/${MAIN}/schema?db_name=neondb`,
    `${P}/branches/${STAGING}/compare_schema?db_name=neondb`,
  ]) {
    expect(await call('GET', path)).toMatchObject({ status: 501, body: { code: 'NOT_SERVED_BY_SANDBOX' } })
  }
})

test('roles, databases, passwords and pending changes survive a sandbox restart', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'espalier-catalog-'))
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }))
  const first = await openSandbox({ stateDir })
  const { body } = await first.call('POST', roles, { role: { name: 'sally' } })
  await first.sandbox.close()
  const second = await openSandbox({ stateDir })
  expect((await second.call('GET', `${roles}/sally/reveal_password`)).body).toEqual({ password: body.role.password })
  await second.settle()
  const { operations } = (await second.call('GET', `${P}/operations`)).body
  expect(operations).toMatchObject([{ action: 'apply_config', status: 'finished' }])
})
