import type { Seed } from '../src/sandbox/index.ts'

/** Fleets of a stated size, as manifest text and as the live world that they are planned against. */

export interface FleetSize {
  readonly computes: number
  readonly projects: number
}

const COMPUTES_A_BRANCH = 2

const projectId = (index: number): string => `bench-fleet-${String(index).padStart(8, '0')}`
const branchName = (index: number): string => `branch-${String(index).padStart(5, '0')}`

const branchesOf = ({ computes, projects }: FleetSize): number => computes / projects / COMPUTES_A_BRANCH

/** One document a project; every tenth branch asks for another size than the live one. */
export const fleetManifest = (size: FleetSize): string => {
  const documents: string[] = []
  for (let project = 0; project < size.projects; project += 1) {
    const lines = ['version: 1', `project: ${projectId(project)}`, 'branches:']
    for (let branch = 0; branch < branchesOf(size); branch += 1) {
      lines.push(
        `  ${branchName(branch)}:`,
        '    primary:',
        `      size: ${branch % 10 === 0 ? 2 : 1}`,
        '      scaleToZero: 5m',
        '    replicas:',
        '      reporting:',
        '        size: 0.25',
      )
    }
    documents.push(lines.join('\n'))
  }
  return `${documents.join('\n---\n')}\n`
}

/** The live fleet, in the sandbox's seed vocabulary. */
export const fleetSeed = (size: FleetSize): Seed => ({
  projects: Array.from({ length: size.projects }, (_, project) => ({
    id: projectId(project),
    name: projectId(project),
    branches: Array.from({ length: branchesOf(size) }, (_unused, branch) => ({
      name: branchName(branch),
      default: branch === 0,
      computes: [
        { type: 'read_write', size: 1, state: 'idle' },
        { type: 'read_only', name: 'reporting', size: 0.25, state: 'idle' },
      ],
    })),
  })),
})

export const projectIds = (size: FleetSize): readonly string[] =>
  Array.from({ length: size.projects }, (_, index) => projectId(index))
