/** What the manifests of a base are compared with, and what cannot be compared. */
import { expect, test } from 'vitest'
import { parseManifests } from '../../src/manifest/index.ts'
import { isUsableBase, planOfBase, removedProjects } from '../../src/workflow/base.ts'
import { planSnapshot } from '../../src/workflow/index.ts'
import { PROJECT, world } from '../planner/world.ts'

const LIVE = world({ main: { primary: { id: 'ep-main', size: 1 } } })
const manifests = (...projects: readonly string[]) => {
  const files = projects.map((project) => ({
    path: `${project}.yaml`,
    text: `version: 1\nproject: ${project}\nbranches: { main: { primary: { size: 2 } } }\n`,
  }))
  return { loaded: parseManifests(files), paths: files.map(({ path }) => path) }
}
const HEAD = manifests(PROJECT)
const BROKEN = { loaded: parseManifests([{ path: 'a.yaml', text: 'version: 1\nproject: 3\n' }]), paths: ['a.yaml'] }
const gaps = (base: typeof HEAD, live = LIVE) => planSnapshot(live, HEAD, { base }).comparison?.origin.gaps

test('a base with errors cannot be used, but one without manifests can', () => {
  const bases = [HEAD, BROKEN, { ...BROKEN, paths: [] }]
  expect(bases.map(isUsableBase)).toEqual([true, false, true])
  expect(gaps(BROKEN)).toEqual(["The base's manifests have errors, so every change is shown as introduced."])
  expect(planOfBase(BROKEN, [PROJECT], LIVE)).toBeUndefined()
})

test('only the projects that no manifest of the head declares are removed', () => {
  expect(removedProjects(manifests(PROJECT, 'old-1'), HEAD)).toEqual(['old-1'])
  expect(removedProjects(HEAD, manifests(PROJECT, 'new-1'))).toEqual([])
  expect(removedProjects(BROKEN, HEAD)).toEqual([])
})

test('a removed project is named if it could not be read', () => {
  const base = manifests(PROJECT, 'old-1', 'old-2')
  const live = { ...LIVE, projects: LIVE.projects.flatMap((one) => [one, { ...one, id: 'old-1' }]) }
  expect(gaps(base, live)).toEqual(['Project old-2 is no longer declared, and its computes could not be read.'])
  expect(planSnapshot(LIVE, HEAD, { base: HEAD }).comparison?.origin).not.toHaveProperty('gaps')
})

test('the base is planned only for the given projects', () => {
  expect(planOfBase(manifests(PROJECT, 'old-1'), [PROJECT], LIVE)).toMatchObject({ projects: [PROJECT], warnings: [] })
  expect(planOfBase(manifests('old-1'), [PROJECT], LIVE)?.projects).toEqual([])
})
