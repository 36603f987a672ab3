/** A second import of a project, into the file that the first one wrote. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { adoptFile } from '../../src/workflow/index.ts'
import { PROJECT, world } from '../planner/world.ts'

const MANIFEST = `version: 1
project: ${PROJECT}
defaults: { scaleToZero: 5m }
branches: { main: { primary: { size: 1 } } }
`
const branch = (scaleToZero: number) => ({ primary: { size: 0.5, scaleToZero } })
const imported = async (previews: Parameters<typeof world>[0]) => {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-adopt-'))
  await writeFile(join(folder, 'espalier.yaml'), MANIFEST)
  const observed = world({ main: { primary: { size: 1, scaleToZero: 300 } }, ...previews })
  const [project] = observed.projects
  if (project === undefined) throw new Error('no project')
  const adopted = await adoptFile({ path: 'espalier.yaml', text: MANIFEST }, project, observed, { pin: false }, folder)
  if (adopted.kind === 'problems') throw new Error(JSON.stringify(adopted.diagnostics))
  return adopted
}

test('preview branches that have come since are declared by a rule', async () => {
  const { text, rules, computes } = await imported({ 'preview/1': branch(300), 'preview/2': branch(300) })
  expect(text).toContain('rules:\n  - match: preview/*\n')
  expect(text).not.toContain('preview/1')
  expect(rules).toMatchObject([{ match: 'preview/*', branches: 2 }])
  expect(computes.added).toBe(2)
})

test('branches that the defaults of the file would change under a rule are listed', async () => {
  const { text, rules } = await imported({ 'preview/1': branch(300), 'preview/2': branch(600) })
  expect(text).toContain('preview/2:')
  expect(text).not.toContain('rules:')
  expect(rules).toEqual([])
})
