/** Drizzle: migrations and queries over TCP (node-postgres) and over HTTP (neon-http). */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { neon, neonConfig } from '@neondatabase/serverless'
import { eq } from 'drizzle-orm'
import { drizzle as overHttp } from 'drizzle-orm/neon-http'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import pg from 'pg'
import { ran } from './case.mjs'

const { BASE_URL, DATABASE_URL, HOST_URL } = process.env
const books = pgTable('books', { id: integer('id').primaryKey().generatedAlwaysAsIdentity(), title: text('title') })

mkdirSync('migrations/meta', { recursive: true })
writeFileSync(
  'migrations/0000_books.sql',
  'CREATE TABLE books (id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY, title text);',
)
const entries = [{ idx: 0, version: '7', when: 1_700_000_000_000, tag: '0000_books', breakpoints: true }]
writeFileSync('migrations/meta/_journal.json', JSON.stringify({ version: '7', dialect: 'postgresql', entries }))

const pool = new pg.Pool({ connectionString: DATABASE_URL })
const db = drizzle(pool)
await ran('migrate', () => migrate(db, { migrationsFolder: 'migrations' }))
await ran('insert, update and select over TCP', async () => {
  const [made] = await db.insert(books).values({ title: 'Emma' }).returning()
  await db.update(books).set({ title: 'Persuasion' }).where(eq(books.id, made.id))
  assert.deepEqual(await db.select().from(books), [{ id: made.id, title: 'Persuasion' }])
})
await ran('a transaction is rolled back', async () => {
  await assert.rejects(
    db.transaction(async (inner) => {
      await inner.insert(books).values({ title: 'lost' })
      throw new Error('no')
    }),
  )
  assert.equal((await db.select().from(books)).length, 1)
})
await pool.end()
neonConfig.fetchEndpoint = `${new URL(BASE_URL).origin}/sql`
for (const [name, url] of [
  ['the connection string', DATABASE_URL],
  ["the service's host name", HOST_URL],
]) {
  await ran(`select over HTTP with ${name}`, async () => {
    const rows = await overHttp(neon(url)).select().from(books)
    assert.equal(rows[0].title, 'Persuasion')
  })
}
