/** Acts as another client that changes the project just before a request. The API's rules apply to it too. */
import type { RequestEffect } from '../faults/fault.ts'
import { createCompute, deleteCompute, updateCompute } from '../world/compute-commands.ts'
import { Refusal } from '../world/refusal.ts'
import type { World } from '../world/world.ts'

type ConcurrentWrite = Extract<RequestEffect, { readonly kind: `rival-${string}` }>

/** @param path of the client's request, below the API root. */
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
    // A refusal concerns the other client only.
    if (!(error instanceof Refusal)) throw error
  }
}
