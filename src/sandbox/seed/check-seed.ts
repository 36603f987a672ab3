/** What a seed must hold to besides its shape: it may not start from a world that the API would not allow. */
import type { z } from 'zod'
import { limitProblem } from '../world/limits.ts'
import type { ProjectRecord } from '../world/records.ts'

interface SeedCompute {
  readonly id?: string | undefined
  readonly type: 'read_write' | 'read_only'
  readonly size: { readonly min: number; readonly max: number }
  readonly scaleToZero: number
}

interface SeedProject {
  readonly id: string
  readonly plan: ProjectRecord['plan']
  readonly defaults: Pick<SeedCompute, 'size' | 'scaleToZero'>
  readonly branches: readonly {
    readonly id?: string | undefined
    readonly name: string
    readonly default: boolean
    readonly parent?: string | undefined
    readonly computes: readonly SeedCompute[]
  }[]
}

/** Takes a problem and where it is. */
type Report = (path: readonly PropertyKey[], message: string) => void

const reportTo =
  (context: z.RefinementCtx): Report =>
  (path, message) =>
    context.addIssue({ code: 'custom', path: [...path], message })

export const checkProject = (project: SeedProject, context: z.RefinementCtx): void => {
  const report = reportTo(context)
  checkSize(project.defaults, project.plan, ['defaults'], report)
  const names = new Set<string>()
  let hasDefault = false
  for (const [index, branch] of project.branches.entries()) {
    const at = ['branches', index] as const
    if (names.has(branch.name)) report([...at, 'name'], `two branches are named ${branch.name}`)
    if (branch.parent !== undefined && !names.has(branch.parent)) {
      report([...at, 'parent'], `no branch above this one is named ${branch.parent}`)
    }
    if (branch.default && hasDefault) report([...at, 'default'], 'another branch is the default one already')
    hasDefault ||= branch.default
    names.add(branch.name)
    let hasPrimary = false
    for (const [place, compute] of branch.computes.entries()) {
      const here = [...at, 'computes', place]
      if (compute.type === 'read_write' && hasPrimary) report(here, 'a branch has one read_write compute at most')
      hasPrimary ||= compute.type === 'read_write'
      checkSize(compute, project.plan, here, report)
    }
  }
}

/** Ids are unlike any other across projects. */
export const checkProjects = (projects: readonly SeedProject[], context: z.RefinementCtx): void => {
  const report = reportTo(context)
  const ids = new Set<string>()
  const take = (id: string | undefined, path: readonly PropertyKey[]): void => {
    if (id === undefined) return
    if (ids.has(id)) report([...path, 'id'], `${id} is there already`)
    ids.add(id)
  }
  for (const [index, project] of projects.entries()) {
    take(project.id, [index])
    for (const [place, branch] of project.branches.entries()) {
      take(branch.id, [index, 'branches', place])
      for (const [spot, compute] of branch.computes.entries()) {
        take(compute.id, [index, 'branches', place, 'computes', spot])
      }
    }
  }
}

const checkSize = (
  { size, scaleToZero }: Pick<SeedCompute, 'size' | 'scaleToZero'>,
  plan: ProjectRecord['plan'],
  path: readonly PropertyKey[],
  report: Report,
): void => {
  const problem = limitProblem({ ...size, suspendTimeoutSeconds: scaleToZero }, plan)
  if (problem === undefined) return
  report([...path, problem.field === 'suspend_timeout_seconds' ? 'scaleToZero' : 'size'], problem.message)
}
