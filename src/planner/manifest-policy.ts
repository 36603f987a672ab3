/** When the manifests allow the live computes of one project to be disrupted, and what they say about each branch. */
import type { DeclaredWindow, RestartWindow } from '../model/index.ts'
import type { Declarations } from './declarations.ts'
import type { ResolvedBranch } from './resolve.ts'

export interface ManifestPolicy {
  /** By branch id. */
  readonly branches: ReadonlyMap<string, ResolvedBranch>
  /** When a compute may be disrupted; `undefined`: at any time. */
  windowOf(compute: Place): RestartWindow | undefined
}

interface Place {
  readonly branch: string
  /** Slot of the declaration, as in a claim. */
  readonly slot?: string | undefined
  readonly id?: string | undefined
}

/**
 * The window of a live compute is that of the declaration that claims it, wherever it is moved. Without a claim, the
 * window of its slot applies, then that of the document that declares its branch.
 */
export const manifestPolicyOf = ({ branches, claims, serviceWindow }: Declarations): ManifestPolicy => {
  const windows = new Map<string | undefined, DeclaredWindow>()
  for (const { branch, restartWindow } of branches) {
    if (restartWindow !== undefined) windows.set(branch.id, restartWindow)
  }
  for (const { slot, observed, desired } of claims) {
    const window = desired.restartWindow ?? 'always'
    windows.set(slot, window)
    if (observed !== undefined) windows.set(observed.id, window)
  }
  return {
    branches: new Map(branches.map((resolved) => [resolved.branch.id, resolved])),
    windowOf: ({ branch, slot, id }) => {
      const window = windows.get(id) ?? windows.get(slot) ?? windows.get(branch)
      if (window === 'service') return serviceWindow
      return window === 'always' ? undefined : window
    },
  }
}
