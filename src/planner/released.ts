/** Live computes that the manifests on the base branch declare and those on the head branch do not. */
import { compare } from '../base/index.ts'
import type { Desired, Observed, ReleasedCompute } from '../model/index.ts'
import { declarationsOf } from './declarations.ts'
import { branchNamer, unmanagedCompute } from './steps.ts'

/** Excludes computes that the head deletes (declared absent or pruned), because its plan contains those changes. */
export const releasedSince = (base: Desired, head: Desired, { projects }: Observed): readonly ReleasedCompute[] =>
  projects
    .flatMap((project) => {
      const { claims, departures } = declarationsOf(head, project)
      const known = new Set([...claims.map(({ observed }) => observed?.id), ...departures.map(({ live }) => live.id)])
      const branchName = branchNamer(project)
      return declarationsOf(base, project).claims.flatMap(({ observed: live, desired }) =>
        live === undefined || known.has(live.id)
          ? []
          : [{ ...unmanagedCompute({ project: project.id, branchName }, live), source: desired.source }],
      )
    })
    .sort(
      (a, b) =>
        compare(a.project, b.project) ||
        compare(a.branch.name, b.branch.name) ||
        compare(b.compute.type, a.compute.type) ||
        compare(a.compute.id ?? '', b.compute.id ?? ''),
    )
