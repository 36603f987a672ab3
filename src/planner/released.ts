/** What is no longer managed: the base's manifests declare it, the head's do not, and it is live. */
import type { Desired, DesiredDocument, Observed, ObservedProject, ReleasedCompute } from '../model/index.ts'
import { match } from './match.ts'
import { departuresOf } from './plan-project.ts'
import { resolve } from './resolve.ts'
import { compare } from './sort.ts'
import { unmanagedCompute } from './steps.ts'

/** What the head deletes (declared absent, pruned) is a change of its plan and not among these. */
export const releasedSince = (base: Desired, head: Desired, { projects }: Observed): readonly ReleasedCompute[] =>
  projects
    .flatMap((project) => releasedOf(project, documentsOf(base, project), documentsOf(head, project)))
    .sort(
      (a, b) =>
        compare(a.project, b.project) ||
        compare(a.branch.name, b.branch.name) ||
        compare(b.compute.type, a.compute.type) ||
        compare(a.compute.id ?? '', b.compute.id ?? ''),
    )

const documentsOf = ({ documents }: Desired, { id }: ObservedProject): readonly DesiredDocument[] =>
  documents.filter(({ project }) => project === id)

const releasedOf = (
  project: ObservedProject,
  base: readonly DesiredDocument[],
  head: readonly DesiredDocument[],
): readonly ReleasedCompute[] => {
  if (base.length === 0) return []
  const { branches } = resolve(project, head)
  const matched = match(project, branches, {})
  const known = new Set([
    ...matched.claims.map(({ observed }) => observed?.id),
    ...departuresOf(branches, matched).map(({ id }) => id),
  ])
  const names = new Map(project.branches.map(({ id, name }) => [id, name]))
  return match(project, resolve(project, base).branches, {}).claims.flatMap(({ observed: live, desired }) => {
    if (live === undefined || known.has(live.id)) return []
    const branch = { id: live.branchId, name: names.get(live.branchId) ?? live.branchId }
    return [{ ...unmanagedCompute(project.id, branch, live), source: desired.source }]
  })
}
