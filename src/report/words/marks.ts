/**
 * The marks of impacts, kinds of change and results of steps, for all outputs. Each has its own shape, so that it can be
 * recognized without colour.
 */
import type { ChangeKind, Impact, StepStatus } from '../../model/index.ts'

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
