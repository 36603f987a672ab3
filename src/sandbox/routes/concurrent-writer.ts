/** Another client that changes the project at the worst moment, by the same rules as any client. */
import type { RequestEffect } from '../faults/fault.ts'
import { createCompute, deleteCompute, updateCompute } from '../world/compute-commands.ts'
import { Refusal } from '../world/refusal.ts'
import type { World } from '../world/world.ts'

type ConcurrentWrite = Extract<RequestEffect, { readonly kind: `rival-${string}` }>

/** @param path of the request that comes too late, below the API's root. */
export const writeConcurrently = (effect: ConcurrentWrite, world: World, path: string): void => {
  const [, project = '', computeOfPath = ''] = /^\/projects\/([^/]+)(?:\/endpoints\/([^/]+))?/.exec(path) ?? []
  try {
    switch (effect.kind) {
      case 'rival-create':
        createCompute(world, project, effect.endpoint)
        return
      case 'rival-update':
        updateCompute(world, project, effect.endpoint_id ?? computeOfPath, effect.endpoint)
        return
      case 'rival-delete':
        deleteCompute(world, project, effect.endpoint_id ?? computeOfPath)
    }
  } catch (error) {
    // The other client may be refused like any other, and this request does not learn of it.
    if (!(error instanceof Refusal)) throw error
  }
}
