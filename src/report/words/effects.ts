/** What is different after a change, in words. */
import { type Change, type DifferenceView, effectWords } from '../../model/index.ts'

/** With more changes than this, each is shown on one line, with effects only where they warn. */
export const MOST_EXPLAINED = 3

/** One phrase for each effect: `temp disk 600 → 20 GiB`. Those that warn come first. */
export const effectLines = (change: Change): readonly { readonly text: string; readonly warns: boolean }[] =>
  change.effects
    .map((effect) => ({ text: effectWords(effect, change), warns: effect.warns === true }))
    .sort((a, b) => Number(b.warns) - Number(a.warns))

/** As the plan does, explains up to three differences. If there are more, only what warns is shown. */
export const differenceEffects = (
  { effects }: Pick<DifferenceView, 'effects'>,
  all: readonly DifferenceView[],
): readonly string[] =>
  effects.filter(({ warns }) => warns === true || all.length <= MOST_EXPLAINED).map(({ text }) => text)
