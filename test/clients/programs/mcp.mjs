/** @neondatabase/mcp-server-neon, called over stdio by the SDK's client: projects, branches, SQL and migrations. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ran, refused, skipped } from './case.mjs'

const { BASE_URL, API_KEY, PATH } = process.env
const server = createRequire(import.meta.url).resolve('@neondatabase/mcp-server-neon/dist/index.js')
const client = new Client({ name: 'espalier', version: '1' })
const env = { PATH, NEON_API_HOST: BASE_URL, NODE_ENV: 'development', NEON_CONSOLE_HOST: BASE_URL }
await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: ['--import', './mcp-preload.mjs', server, 'start', API_KEY, '--no-analytics'],
    env,
  }),
)
const { tools } = await client.listTools()
const called = new Set()
const tool = async (name, params = {}) => {
  called.add(name)
  const { inputSchema } = tools.find((one) => one.name === name) ?? assert.fail(`there is no tool ${name}`)
  const wanted = inputSchema.properties?.params === undefined ? params : { params }
  const { content, isError } = await client.callTool({ name, arguments: wanted })
  const text = content.map((part) => part.text ?? '').join('\n')
  if (isError) throw new Error(text)
  return text
}
const api = async (path) =>
  (await fetch(`${BASE_URL}${path}`, { headers: { authorization: `Bearer ${API_KEY}` } })).json()
const settled = async (projectId) => {
  for (;;) {
    const { operations } = await api(`/projects/${projectId}/operations`)
    if (operations.every(({ status }) => !['running', 'scheduling'].includes(status))) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const projectId = 'quiet-river-12345678'
let branchId
for (const [name, params] of [
  ['list_projects', {}],
  ['list_organizations', {}],
  ['list_shared_projects', {}],
  ['describe_project', { projectId }],
  ['list_branch_computes', { projectId }],
  ['get_connection_string', { projectId }],
]) {
  await ran(name, () => tool(name, params))
}
await ran('create_project, delete_project', async () => {
  await tool('create_project', { name: 'made' })
  const { projects } = await api('/projects')
  const { id } = projects.find(({ name }) => name === 'made')
  await settled(id)
  await tool('delete_project', { projectId: id })
})
await ran('create_branch, describe_branch', async () => {
  await tool('create_branch', { projectId, branchName: 'work' })
  await settled(projectId)
  const { branches } = await api(`/projects/${projectId}/branches`)
  branchId = branches.find(({ name }) => name === 'work').id
  await tool('describe_branch', { projectId, branchId })
})
await ran('run_sql, run_sql_transaction, get_database_tables, describe_table_schema', async () => {
  await tool('run_sql', { projectId, branchId, sql: 'CREATE TABLE books (id int, title text)' })
  await tool('run_sql_transaction', {
    projectId,
    branchId,
    sqlStatements: ["INSERT INTO books VALUES (1, 'Emma')", "INSERT INTO books VALUES (2, 'Persuasion')"],
  })
  assert.match(await tool('run_sql', { projectId, branchId, sql: 'SELECT count(*) FROM books' }), /2/)
  assert.match(await tool('get_database_tables', { projectId, branchId }), /books/)
  assert.match(await tool('describe_table_schema', { projectId, branchId, tableName: 'books' }), /title/)
})
await ran('prepare_database_migration, complete_database_migration', async () => {
  const text = await tool('prepare_database_migration', {
    projectId,
    migrationSql: 'CREATE TABLE migrated (id int)',
  })
  await settled(projectId)
  const [migrationId] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(text) ?? assert.fail(text)
  await tool('complete_database_migration', { migrationId })
  await settled(projectId)
  assert.match(await tool('get_database_tables', { projectId }), /migrated/)
})
await ran('reset_from_parent', async () => {
  await tool('reset_from_parent', { projectId, branchIdOrName: 'work' })
  await settled(projectId)
  assert.doesNotMatch(await tool('get_database_tables', { projectId, branchId }), /books/)
})
await ran('delete_branch', () => tool('delete_branch', { projectId, branchId }))
await settled(projectId)
await refused('provision_neon_auth is refused', '501', () => tool('provision_neon_auth', { projectId }))
const reasons = { list_slow_queries: 'needs the extension pg_stat_statements' }
for (const { name } of tools.filter((one) => !called.has(one.name))) {
  // The tuning tools use EXPLAIN (FILECACHE).
  skipped(name, reasons[name] ?? "needs the service's own Postgres")
}
await client.close()
