/** Determines when disruptive steps may run: in the windows of their compute and of the computes they make room for. */
import { compare } from '../base/index.ts'
import { formatWindow, type RestartWindow } from '../model/index.ts'
import type { Draft } from './drafts.ts'
import type { Safeguards } from './permissions.ts'
import { chain, type PrimarySlots } from './primary-slots.ts'
import type { StepDraft } from './steps.ts'

/** Keyed by content, to remove duplicates. */
type Windows = Map<string, RestartWindow>

/**
 * Assigns windows to each step that is disruptive, or would be if its compute were active. A step that makes room for
 * another waits for the windows of both, because the branch has no primary between the two.
 *
 * @param base the manifests on the base branch. Their windows apply until the head branch is merged.
 */
export const assignWindows = (
  drafts: readonly Draft[],
  slots: PrimarySlots,
  { head, base }: { readonly head: Safeguards; readonly base?: Safeguards | undefined },
): readonly Draft[] => {
  const windows = new Map<string, Windows>()
  for (const { change, steps, slot } of drafts) {
    const place = { id: change.compute.id, slot, branch: change.branch.id }
    const [own, before] = [head.windowOf(place), base?.windowOf(place)]
    const window = before ?? own
    if (window === undefined || !steps.some(mayInterrupt)) continue
    // The slot of a replacement may have to be freed first, and only then is its predecessor deleted.
    for (const { step } of steps.flatMap((one) => chain(one, slots)).filter(mayInterrupt)) {
      windows.set(step.id, new Map([...(windows.get(step.id) ?? []), [formatWindow(window), window]]))
    }
  }
  return drafts.map((draft) => withWindows(draft, windows))
}

const mayInterrupt = ({ step }: StepDraft): boolean => step.impact !== 'none' || step.unlessIdle !== undefined

const withWindows = (draft: Draft, windows: ReadonlyMap<string, Windows>): Draft => {
  const all = draft.steps.flatMap(({ step }) => [...(windows.get(step.id) ?? [])])
  if (all.length === 0) return draft
  return {
    ...draft,
    change: { ...draft.change, windows: sorted(new Map(all)) },
    steps: draft.steps.map((one) => {
      const own = windows.get(one.step.id)
      return own === undefined ? one : { ...one, step: { ...one.step, windows: sorted(own) } }
    }),
  }
}

/** Deterministic, regardless of the order in which the windows were found. */
const sorted = (windows: Windows): readonly RestartWindow[] =>
  [...windows].sort(([a], [b]) => compare(a, b)).map(([, window]) => window)
