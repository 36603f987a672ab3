/** Generates seeds and manifests of a given size. */
import type { Seed } from '../src/sandbox/index.ts'

export type World =
  /** `changes`: how many primaries of each project get a larger size. By default, every tenth one does. */
  | { readonly kind: 'fleet'; readonly computes: number; readonly projects: number; readonly changes?: number }
  | { readonly kind: 'primaries'; readonly branches: number }
  | { readonly kind: 'creates'; readonly computes: number; readonly projects: number }
  | { readonly kind: 'restarts'; readonly computes: number }
  | { readonly kind: 'moves'; readonly computes: number }
  | { readonly kind: 'operations'; readonly operations: number }

type SeedProject = Seed['projects'][number]
type SeedBranch = SeedProject['branches'][number]

/** The number of past operations in each project, which is enough for estimates. */
const PAST = 200

export const projectId = (index: number): string => `bench-fleet-${String(index).padStart(8, '0')}`
const branchName = (index: number): string => `branch-${String(index).padStart(5, '0')}`
const computeId = (index: number): string => `ep-bench-${String(index).padStart(5, '0')}`
const list = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index))
const primary = (index: number): SeedBranch => ({
  name: branchName(index),
  default: index === 0,
  computes: [{ id: computeId(index), size: 1, scaleToZero: 'never' }],
})

/** Branches with two computes each. The last branch may have only one compute. */
const fleetBranches = (computes: number): readonly { readonly name: string; readonly hasReplica: boolean }[] =>
  list(Math.ceil(computes / 2), (index) => ({ name: branchName(index), hasReplica: 2 * index + 1 < computes }))

const projectsOf = (world: World): SeedProject[] => {
  switch (world.kind) {
    case 'fleet':
      return list(world.projects, (project) => ({
        id: projectId(project),
        ...(world.changes === undefined ? {} : { operations: PAST }),
        branches: fleetBranches(world.computes / world.projects).map(({ name, hasReplica }, index) => ({
          name,
          default: index === 0,
          computes: [
            { type: 'read_write', size: 1, state: world.changes === undefined ? 'idle' : 'active' },
            ...(hasReplica
              ? [{ type: 'read_only' as const, name: 'reporting', size: 0.25, state: 'idle' as const }]
              : []),
          ],
        })),
      }))
    case 'primaries':
      return [{ id: projectId(0), branches: list(world.branches, primary) }]
    case 'creates':
      return list(world.projects, (project) => ({
        id: projectId(project),
        operations: PAST,
        branches: [{ name: 'main', computes: [{ size: 1, scaleToZero: 'never' }] }],
      }))
    case 'restarts':
      return [{ id: projectId(0), operations: PAST, branches: list(world.computes, primary) }]
    case 'moves':
      return [
        {
          id: projectId(0),
          operations: PAST,
          branches: [...list(world.computes, primary), { name: branchName(world.computes) }],
        },
      ]
    case 'operations':
      return [{ id: projectId(0), operations: world.operations, branches: [primary(0)] }]
  }
}

/** The names of the branches in a `primaries` world. */
export const branchNames = (world: World): readonly string[] =>
  world.kind === 'primaries' ? list(world.branches, branchName) : []

export const seedOf = (world: World): Seed => ({ projects: projectsOf(world) })

const document = (project: number, branches: readonly string[]): string =>
  [`version: 1`, `project: ${projectId(project)}`, 'branches:', ...branches].join('\n')

const isChanged = (index: number, changes: number | undefined): boolean =>
  changes === undefined ? index % 10 === 0 : index < changes

/** The number of branches in a document. The size of documents is limited, but a project can have several. */
const BRANCHES_A_DOCUMENT = 5_000

const documentsOf = (world: World): readonly string[] => {
  switch (world.kind) {
    case 'fleet':
      return list(world.projects, (project) => {
        const branches = fleetBranches(world.computes / world.projects).map(({ name, hasReplica }, index) => [
          `  ${name}:`,
          '    primary:',
          `      size: ${isChanged(index, world.changes) ? 2 : 1}`,
          '      scaleToZero: 5m',
          ...(hasReplica ? ['    replicas:', '      reporting:', '        size: 0.25'] : []),
        ])
        const parts = list(Math.ceil(branches.length / BRANCHES_A_DOCUMENT), (part) =>
          branches.slice(part * BRANCHES_A_DOCUMENT, (part + 1) * BRANCHES_A_DOCUMENT),
        )
        return parts.map((own) => document(project, own.flat()))
      }).flat()
    case 'primaries':
      return [
        document(
          0,
          list(world.branches, (index) => `  ${branchName(index)}: { primary: { size: 2 } }`),
        ),
      ]
    case 'creates': {
      const replicas = list(world.computes / world.projects, (index) => `        r${index}: { size: 0.25 }`)
      return list(world.projects, (project) => document(project, ['  main:', '    replicas:', ...replicas]))
    }
    case 'restarts':
      return [
        document(
          0,
          list(world.computes, (index) => `  ${branchName(index)}: { primary: { size: 2 } }`),
        ),
      ]
    case 'moves':
      // Each primary moves to the next branch. The last primary moves to the free branch, and must do so first.
      return [
        document(0, [
          `  ${branchName(0)}: { primary: absent }`,
          ...list(world.computes, (index) => `  ${branchName(index + 1)}: { primary: { id: ${computeId(index)} } }`),
        ]),
      ]
    case 'operations':
      return [document(0, [`  ${branchName(0)}: { primary: {} }`])]
  }
}

export const manifestOf = (world: World): string => `${documentsOf(world).join('\n---\n')}\n`
