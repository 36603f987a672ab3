/** Reading roles from Postgres while the API changes them. */
import { expect, test } from 'vitest'
import { manualClock } from '../../src/sandbox/clock.ts'
import { ConnectionError, type LiveCatalog } from '../../src/sandbox/computes/computes.ts'
import { Faults } from '../../src/sandbox/faults.ts'
import { openWorld } from '../../src/sandbox/open-world.ts'
import { resolveSeed } from '../../src/sandbox/seed/seed.ts'
import { seedRecords } from '../../src/sandbox/seed/seed-records.ts'
import { refreshCatalog } from '../../src/sandbox/world/catalog.ts'
import { createRole } from '../../src/sandbox/world/catalog-commands.ts'
import { memoryStore } from '../../src/sandbox/world/records.ts'
import { MAIN, SEED } from './open-sandbox.ts'

const open = async () => {
  const clock = manualClock()
  const { world } = await openWorld({ clock, log: () => undefined, faults: new Faults(), store: memoryStore })
  world.restore(seedRecords(resolveSeed(SEED), clock.now()).map((put) => ({ put })))
  const catalog = (...roles: readonly string[]): LiveCatalog => ({
    roles: roles.map((name) => ({ name, canLogin: true, hasPassword: () => true })),
    databases: [{ name: 'neondb', owner: 'neondb_owner' }],
  })
  const create = (name: string) => createRole(world, { project: SEED.projects[0].id, branch: MAIN }, name, true)
  const finishOperations = () => clock.advance(60_000)
  const roles = () => world.tables.branch(MAIN)?.roles?.map(({ name }) => name)
  return { world, catalog, create, finishOperations, roles }
}

test('refreshCatalog adds a role that SQL created and removes a role that SQL dropped', async () => {
  const { world, catalog, roles } = await open()
  await refreshCatalog(world, { readCatalog: async () => catalog('neondb_owner', 'by_sql') }, MAIN)
  expect(roles()).toEqual(['neondb_owner', 'by_sql'])
  await refreshCatalog(world, { readCatalog: async () => catalog('neondb_owner') }, MAIN)
  expect(roles()).toEqual(['neondb_owner'])
})

test('a read that began before the API created a role does not remove the role', async () => {
  const { world, catalog, create, finishOperations, roles } = await open()
  const readCatalog = async () => {
    create('sally')
    await finishOperations()
    return catalog('neondb_owner')
  }
  await refreshCatalog(world, { readCatalog }, MAIN)
  expect(world.tables.branch(MAIN)?.changes).toBeUndefined()
  expect(roles()).toEqual(['neondb_owner', 'sally'])
})

test('a read that began before Postgres created a requested role does not remove the role', async () => {
  const { world, catalog, create, finishOperations, roles } = await open()
  create('sally')
  const readCatalog = async () => {
    await finishOperations()
    return catalog('neondb_owner')
  }
  await refreshCatalog(world, { readCatalog }, MAIN)
  await finishOperations()
  expect(roles()).toEqual(['neondb_owner', 'sally'])
})

test('if Postgres is stopping, reads use the record and writes are rejected with 423; any other error is a bug', async () => {
  const { world, roles } = await open()
  const readCatalog = () => Promise.reject(new ConnectionError('57P03', 'stopping'))
  await refreshCatalog(world, { readCatalog }, MAIN)
  expect(roles()).toEqual(['neondb_owner'])
  await expect(refreshCatalog(world, { readCatalog }, MAIN, true)).rejects.toMatchObject({ status: 423 })
  const bug = () => Promise.reject(new Error('syntax error'))
  await expect(refreshCatalog(world, { readCatalog: bug }, MAIN)).rejects.toThrow('syntax error')
})
