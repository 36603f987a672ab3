import type { EXIT } from '../model/index.ts'

/** For the help. The type requires an entry for each code. */
export const EXIT_WORDS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: 'done, or nothing to do',
  error: 'wrong input, wrong usage, or an error before anything changed',
  changes: 'plan --detailed-exitcode: there are changes; drift: the live project moved; fmt --check: not formatted',
  partial: 'applied in part',
  stale: 'the saved plan is stale, or was edited',
  scheduled: 'done, except for steps that wait for their restart window',
  interrupted: 'interrupted',
}
