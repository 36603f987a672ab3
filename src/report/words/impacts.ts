/** Marks and describes impacts, and sorts changes by impact. */
import { compare, counted, group } from '../../base/index.ts'
import {
  type Change,
  type ChangeCounts,
  type ChangeKind,
  type Consent,
  type DifferenceView,
  formatWindow,
  IMPACT_NAMES,
  IMPACT_WORDS,
  IMPACTS,
  type Impact,
  interruptsLater,
  type StepStatus,
} from '../../model/index.ts'
import { openingOf } from '../../model/window-opening.ts'

// The marks of impacts, kinds of change and results of steps, for all outputs. Each has its own shape, so that it can be
// recognized without colour.

/** The colours of HTML pages. They are CSS classes. */
export type Tone = 'calm' | 'good' | 'warn' | 'bad' | 'move' | 'quiet'

/** The colours of terminals. */
type Colour = 'green' | 'yellow' | 'magenta' | 'cyan' | 'red'

interface Mark {
  /** The name of the icon on HTML pages. */
  readonly icon: string
  readonly tone: Tone
  readonly colour: Colour
}

export const IMPACT_MARKS = {
  none: { symbol: '·', colour: 'green', isBold: false, icon: 'ring', tone: 'calm' },
  'may-restart': { symbol: '?', colour: 'yellow', isBold: false, icon: 'half-turn', tone: 'warn' },
  restart: { symbol: '!', colour: 'yellow', isBold: true, icon: 'turn', tone: 'warn' },
  disconnect: { symbol: '⊘', colour: 'magenta', isBold: true, icon: 'cut', tone: 'bad' },
  move: { symbol: '→', colour: 'cyan', isBold: true, icon: 'swap', tone: 'move' },
  replace: { symbol: '⇄', colour: 'red', isBold: false, icon: 'diamond', tone: 'bad' },
  delete: { symbol: '✗', colour: 'red', isBold: true, icon: 'cross', tone: 'bad' },
} as const satisfies Record<Impact, Mark & { readonly symbol: string; readonly isBold: boolean }>

export const STATUS_MARKS = {
  done: { emoji: '✅', colour: 'green', icon: 'check', tone: 'good' },
  failed: { emoji: '❌', colour: 'red', icon: 'cross', tone: 'bad' },
  stale: { emoji: '⚠️', colour: 'yellow', icon: 'warning', tone: 'warn' },
  skipped: { emoji: '⏭️', colour: 'yellow', icon: 'skip', tone: 'quiet' },
  'not-allowed': { emoji: '🚫', colour: 'yellow', icon: 'bar', tone: 'warn' },
  scheduled: { emoji: '🕑', colour: 'cyan', icon: 'clock', tone: 'move' },
} as const satisfies Record<StepStatus, Mark & { readonly emoji: string }>

export const KIND_MARKS = {
  create: { symbol: '+', colour: 'green', tone: 'good' },
  update: { symbol: '~', colour: 'yellow', tone: 'calm' },
  move: { symbol: '→', colour: 'cyan', tone: 'move' },
  replace: { symbol: '-/+', colour: 'red', tone: 'bad' },
  delete: { symbol: '-', colour: 'red', tone: 'bad' },
} as const satisfies Record<ChangeKind, Omit<Mark, 'icon'> & { readonly symbol: string }>

/** The effect on users. For an idle compute, this includes the effect if the compute has become active by then. */
export const impactWords = (change: Interrupting & Pick<Change, 'unlessIdle'>): string => {
  const { impact, unlessIdle } = change
  if (unlessIdle === undefined) return impact === 'none' ? noneWords([change]) : IMPACT_WORDS[impact]
  const otherwise = IMPACT_NAMES[unlessIdle]
  return impact === 'none'
    ? `idle: no one is connected (${otherwise} if it is active by then)`
    : `${IMPACT_WORDS[impact]} (${otherwise} as well if it is active by then)`
}

/** In a few words, for a column: `restarts`, or `idle; restarts if in use`. */
export const shortImpact = (
  { impact, unlessIdle }: Pick<DifferenceView, 'impact' | 'unlessIdle'>,
  isNarrow = false,
): string =>
  impact === 'none' && unlessIdle !== undefined
    ? `${isNarrow ? '' : 'idle; '}${IMPACT_NAMES[unlessIdle]} if in use`
    : IMPACT_NAMES[impact]

type Interrupting = Pick<Change, 'impact'> & Partial<Pick<Change, 'effects'>>

/** Whether changes with the impact `none` interrupt no one at all, or only for now. */
export const noneWords = (changes: readonly Interrupting[]): string =>
  `${IMPACT_WORDS.none}${changes.some(({ effects }) => effects?.some(interruptsLater)) ? ' now' : ''}`

/**
 * When a change is allowed to interrupt users. Empty if the change has no restart windows.
 *
 * @param now if given (ISO 8601), the text also says whether the window is open, or when it opens.
 */
export const windowWords = (
  { windows, impact }: Pick<Change, 'windows' | 'impact'>,
  now?: string,
  isOverridden = false,
): string => {
  if (windows === undefined) return ''
  const words = windows.map(formatWindow).join(' and ')
  const which = windows.length === 1 ? 'its restart window' : 'the restart windows'
  if (impact === 'none') return `if it is active by then: only in ${which}: ${words}`
  if (now === undefined) return `only in ${which}: ${words}`
  const { isOpen, opensLocally } = openingOf(windows, Date.parse(now))
  if (isOverridden && !isOpen) return `outside ${which}, which --now overrides: ${words}`
  if (isOpen) return `in ${which}, open now: ${words}`
  if (opensLocally === undefined && windows.some(({ days }) => days.length === 0)) return `waits for ${words}`
  return opensLocally === undefined
    ? `waits for ${which}, never open at the same time within a year: ${words}`
    : `waits for ${which}: ${words}, opens ${opensLocally}`
}

/** `2 restarts`, `1 deleted`. */
export const impactCount = (impact: Impact, count: number): string => {
  switch (impact) {
    case 'none':
      return `${group(count)} without interruption`
    case 'may-restart':
    case 'replace':
    case 'delete':
      return `${group(count)} ${IMPACT_NAMES[impact]}`
    default:
      return counted(count, impact)
  }
}

/** Follows the consents that a plan needs, if it deletes computes. */
export const DELETE_WORDS = 'Deleting a compute ends its connections; the branch and its data stay.'

/** The disruptive impacts that occur in a plan, with the number of changes that have each. */
export const impactCounts = (summary: ChangeCounts): readonly (readonly [impact: Impact, count: number])[] => {
  const counts: readonly (readonly [Impact, number])[] = [
    ['restart', summary.restarts],
    ['may-restart', summary.mayRestart],
    ['disconnect', summary.disconnects],
    ['move', summary.move],
    ['replace', summary.replace],
    ['delete', summary.delete],
  ]
  return counts.filter(([, count]) => count > 0)
}

/** What the steps that need a consent do. The first wording is for one step, the second for several. */
const CONSENT_WORDS: Readonly<Record<Consent, readonly [one: string, many: string]>> = {
  restart: ['restarts a compute: existing connections drop', 'restart computes: existing connections drop'],
  disconnect: ['ends the connections of a compute', 'end the connections of computes'],
  move: ['moves a compute: same host, other data', 'move computes: same hosts, other data'],
  replace: ['replaces a compute: its host changes', 'replace computes: their hosts change'],
  delete: ['deletes a compute: its host is lost', 'delete computes: their hosts are lost'],
}

/** `2 steps delete computes: their hosts are lost`. */
export const consentWords = (consent: Consent, steps: number): string =>
  `${counted(steps, 'step')} ${CONSENT_WORDS[consent][steps === 1 ? 0 : 1]}`

export const isDisruptive = (impact: Impact): boolean => impact !== 'none'

/** The changes that interrupt someone, the worst first. */
export const interrupting = (changes: readonly Change[]): readonly Change[] =>
  worstFirst(changes.filter(({ impact }) => isDisruptive(impact)))

/** Sorts by impact, the worst first, then by project title and branch. Otherwise keeps the order of the plan. */
export const worstFirst = (
  changes: readonly Change[],
  titleOf: (project: string) => string = String,
): readonly Change[] =>
  changes.toSorted(
    (a, b) =>
      severity(b) - severity(a) ||
      compare(titleOf(a.project), titleOf(b.project)) ||
      compare(a.branch.name, b.branch.name),
  )

/** Denied and refused changes first. Among those that interrupt no one, those with an effect that warns. */
const severity = (change: Change): number => {
  const { impact, refused, isDenied, effects } = change
  if (refused !== undefined) return IMPACTS.length + (isDenied ? 1 : 0)
  return IMPACTS.indexOf(impact) + (effects.some(({ warns }) => warns === true) ? 0.5 : 0)
}
