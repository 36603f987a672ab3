/** Assigns projects to shards. The assignment depends only on a project's id and the number of shards. */
import { createHash } from 'node:crypto'
import type { Shard } from '../model/index.ts'
import { type Manifests, onlyProjects } from './manifests.ts'

/**
 * Returns the shard of a project, from 1 to `count`. If a project is added or removed, no other project changes its
 * shard. If a shard is added, projects move only to the new one. This is the jump consistent hash by Lamping and Veach
 * (2014).
 */
export const shardOf = (projectId: string, count: number): number => {
  let key = createHash('sha256').update(projectId).digest().readBigUInt64BE()
  let at = 0
  for (let next = 0; next < count; ) {
    at = next
    key = BigInt.asUintN(64, key * 2_862_933_555_777_941_757n + 1n)
    next = Math.floor((at + 1) * (2 ** 31 / (Number(key >> 33n) + 1)))
  }
  return at + 1
}

/** The manifests with only the projects in the shard. Errors in other projects are still reported. */
export const selectShard = (manifests: Manifests, shard: Shard | undefined): Manifests => {
  if (shard === undefined) return manifests
  return { ...onlyProjects(manifests, (project) => shardOf(project, shard.count) === shard.index), shard }
}
