/** @neondatabase/toolkit: creates a project, runs SQL in it over HTTP, and deletes it at once. */
import assert from 'node:assert/strict'
import { neonConfig } from '@neondatabase/serverless'
import { NeonToolkit } from '@neondatabase/toolkit'
import { ran } from './case.mjs'

const { BASE_URL, API_KEY } = process.env
const toolkit = new NeonToolkit(API_KEY)
toolkit.apiClient.instance.defaults.baseURL = BASE_URL
neonConfig.fetchEndpoint = `${new URL(BASE_URL).origin}/sql`

let project
await ran('createProject', async () => {
  project = await toolkit.createProject({ name: 'toolkit' })
})
await ran('sql', async () => {
  await toolkit.sql(project, 'CREATE TABLE books (title text)')
  await toolkit.sql(project, "INSERT INTO books VALUES ('Emma')")
  assert.deepEqual(await toolkit.sql(project, 'SELECT * FROM books'), [{ title: 'Emma' }])
})
await ran('deleteProject', async () => {
  await toolkit.deleteProject(project)
  const { data } = await toolkit.apiClient.listProjects({})
  assert.ok(!data.projects.some(({ id }) => id === project.project.id))
})
await ran('deleteProject right after createProject', async () => {
  await toolkit.deleteProject(await toolkit.createProject())
})
