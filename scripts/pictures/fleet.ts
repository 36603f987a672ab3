/** Writes a seed with live projects, and manifests that require a given number of changes to them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'

const WORDS = 'billing storefront search catalog checkout identity ledger media notify orders'.split(' ')
const REGIONS = ['', '-eu', '-us', '-apac']
export const NAMES = REGIONS.flatMap((region) => WORDS.map((word) => `${word}${region}`))

type Compute = Record<string, unknown>

/** The settings that are declared for a branch. Each entry requires one kind of change. */
const CHANGES: readonly ((branches: Record<string, Compute>) => void)[] = [
  (branches) => Object.assign(branches, { main: { primary: { size: { min: 1, max: 4 } } } }),
  (branches) => Object.assign(branches, { staging: { primary: { scaleToZero: '10m' } } }),
  (branches) => Object.assign(branches, { analytics: { primary: {}, replicas: { reporting: { size: 2 } } } }),
  (branches) => Object.assign(branches, { development: { primary: { postgres: { settings: { work_mem: '64MB' } } } } }),
  (branches) => Object.assign(branches, { 'load-test': { primary: 'absent' } }),
]

/** Mixes the kinds of changes, so that only some of the changes are disruptive. */
const kindOf = (index: number): number => [0, 1, 2, 1, 3, 1, 2, 0, 1, 4][index % 10] ?? 1

const idOf = (name: string, index: number): string => `${name}-${String(10_000_000 + index * 7_654_321).slice(0, 8)}`

const computeOf = (project: number, branch: string, state: string): Compute => ({
  id: `ep-${branch}-${String(project).padStart(2, '0')}a1b2c3d4`,
  type: 'read_write',
  size: 1,
  scaleToZero: '5m',
  state,
})

/** @param perProject how many changes each project gets. Default: one change, until there are enough changes. */
export const writeFleet = (
  folder: string,
  projects: number,
  changes: number,
  perProject = 1,
  more: Readonly<Record<string, unknown>> = {},
): { readonly seed: string; readonly paths: readonly string[] } => {
  const names = NAMES.slice(0, projects)
  mkdirSync(join(folder, 'projects'), { recursive: true })
  const branches = ['main', 'staging', 'analytics', 'development', 'load-test']
  const seed = {
    projects: names.map((name, project) => ({
      id: idOf(name, project),
      name,
      branches: branches.map((branch, index) => ({
        name: branch,
        ...(index === 0 ? { default: true } : { parent: 'main' }),
        computes: [computeOf(project, branch, branch === 'staging' ? 'idle' : 'active')],
      })),
    })),
  }
  const paths = names.map((name, project) => {
    const declared: Record<string, Compute> = Object.fromEntries(branches.map((branch) => [branch, { primary: {} }]))
    for (let at = 0; at < perProject; at += 1) {
      const index = project * perProject + at
      if (index < changes) CHANGES[perProject === 1 ? kindOf(index) : at]?.(declared)
    }
    const path = `projects/${name}.yaml`
    const document = { version: 1, project: idOf(name, project), ...(more[name] ?? {}), branches: declared }
    writeFileSync(join(folder, path), stringify(document))
    return path
  })
  writeFileSync(join(folder, 'seed.yaml'), stringify(seed))
  return { seed: join(folder, 'seed.yaml'), paths }
}
