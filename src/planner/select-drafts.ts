/** Applies a selection: an unselected change is never made, not even as a step of a selected one. */
import type { Change } from '../model/index.ts'
import type { Draft } from './drafts.ts'

/** `true`: the whole change. `false`: none of it. Paths: only these attributes of an update. */
export type Selected = boolean | ReadonlySet<string>

export interface SelectedDrafts {
  readonly drafts: readonly Draft[]
  readonly leftOut: { readonly changes: number; readonly dependent: number }
}

/** @param withOnly reduces the draft to these attributes; `undefined` if nothing is left. */
export const selectDrafts = (
  all: readonly Draft[],
  select: (change: Change) => Selected,
  withOnly: (draft: Draft, paths: ReadonlySet<string>) => Draft | undefined,
): SelectedDrafts => {
  let partial = 0
  let drafts = all.flatMap((draft): readonly Draft[] => {
    const selected = select(draft.change)
    if (typeof selected === 'boolean') return selected ? [draft] : []
    partial += 1
    const part = withOnly(draft, selected)
    return part === undefined ? [] : [part]
  })
  const chosen = drafts.length
  // The slot that an unselected change would free stays taken, which may block further changes.
  for (;;) {
    const kept = new Set(drafts.map(({ change }) => change.id))
    const taken = new Set(
      all
        .filter(({ change }) => !kept.has(change.id))
        .flatMap(({ steps }) => steps.flatMap(({ frees }) => frees ?? [])),
    )
    const possible = drafts.filter(({ steps }) => steps.every(({ fills }) => fills === undefined || !taken.has(fills)))
    if (possible.length === drafts.length) break
    drafts = possible
  }
  const dependent = chosen - drafts.length
  return { drafts, leftOut: { changes: all.length - drafts.length + partial, dependent } }
}
