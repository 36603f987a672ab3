/** Plans only a part of the changes, without splitting a chain of changes that only run together. */
import type { Change } from '../model/index.ts'
import type { Draft } from './drafts.ts'
import { chainsOf } from './primary-slots.ts'

/** `true`: the whole change. `false`: none of it. Paths: only these attributes of an update. */
export type Selected = boolean | ReadonlySet<string>

export interface DraftSelection {
  readonly select: (change: Change) => Selected
  /** If only some changes of a chain are selected: whether to include the others, or to leave out the whole chain. */
  readonly completesChains: boolean
  /** Reduces the draft to these attributes; `undefined` if nothing is left. */
  readonly withOnly: (draft: Draft, paths: ReadonlySet<string>) => Draft | undefined
}

export interface SelectedDrafts {
  readonly drafts: readonly Draft[]
  readonly leftOut: { readonly changes: number; readonly dependent: number }
  /** Ids of the changes that were not selected, but complete a chain. */
  readonly included: readonly string[]
}

export const selectDrafts = (
  all: readonly Draft[],
  { select, completesChains, withOnly }: DraftSelection,
): SelectedDrafts => {
  const selected = new Map(all.map(({ change }) => [change.id, select(change)]))
  const isSelected = ({ change }: Draft): boolean => selected.get(change.id) !== false
  const split = chainsOf(all).filter((chain) => chain.some(isSelected) && !chain.every(isSelected))
  const corrected = split.flatMap((chain) =>
    chain.flatMap((draft) => (isSelected(draft) === completesChains ? [] : [draft.change.id])),
  )
  for (const id of corrected) selected.set(id, completesChains)
  let partial = 0
  const drafts = all.flatMap((draft): readonly Draft[] => {
    const paths = selected.get(draft.change.id) ?? false
    if (typeof paths === 'boolean') return paths ? [draft] : []
    partial += 1
    const part = withOnly(draft, paths)
    return part === undefined ? [] : [part]
  })
  return {
    drafts,
    leftOut: { changes: all.length - drafts.length + partial, dependent: completesChains ? 0 : corrected.length },
    included: completesChains ? corrected : [],
  }
}
