/** Limits of the service's plans ("tiers"), each with its source. */
import type { Severity } from './diagnostic.ts'

export interface TierLimit {
  readonly max: number
  /** An error only if the API itself enforces the limit. Docs may be outdated, so limits from docs cause warnings. */
  readonly severity: Severity
  readonly source: string
}

export interface TierScaleToZero {
  /** Seconds. */
  readonly min: number
  readonly max: number
  /** Whether computes may stay active all the time. */
  readonly never: boolean
  readonly severity: Severity
  readonly source: string
}

export interface Tier {
  /** Value of `tier` in a manifest. */
  readonly name: string
  /** For display. */
  readonly title: string
  /** Values of the API's `subscription_type` for this tier. */
  readonly subscriptions: readonly string[]
  /** Largest fixed size, in CU. */
  readonly fixedCu?: TierLimit
  /** Largest autoscaling limit, in CU. */
  readonly autoscalingCu?: TierLimit
  readonly scaleToZero?: TierScaleToZero
  /** Per project. */
  readonly replicas?: TierLimit
  /** CU-hours included per project and month. Once they are used up, the service suspends all computes. */
  readonly cuHours?: TierLimit
}

const API = 'control API, limits'
const PLANS = 'neon.com/docs/introduction/plans, 2026-03-20'

const free: Omit<Tier, 'name' | 'subscriptions' | 'cuHours'> = {
  title: 'Free',
  fixedCu: { max: 2, severity: 'error', source: API },
  autoscalingCu: { max: 2, severity: 'error', source: API },
  scaleToZero: {
    min: 300,
    max: 300,
    never: false,
    severity: 'error',
    source: `${PLANS}; others refused in neondatabase/create-branch-action#31, ignored in neondatabase/neon#4915`,
  },
  replicas: { max: 3, severity: 'warning', source: 'neon.com/docs/introduction/read-replicas, 2026-01' },
}

/** When the limits were last compared with their sources. */
export const TIERS_VERSION = '2026-11'

export const TIERS: readonly Tier[] = [
  {
    ...free,
    name: 'free',
    subscriptions: ['free_v3'],
    cuHours: { max: 100, severity: 'warning', source: PLANS },
  },
  {
    ...free,
    name: 'free-legacy',
    subscriptions: ['free_v2'],
    cuHours: { max: 191.9, severity: 'warning', source: 'neon.com/docs/introduction/legacy-plans, 2025-12-03' },
  },
  {
    name: 'launch',
    title: 'Launch',
    subscriptions: ['launch_v3'],
    fixedCu: { max: 16, severity: 'warning', source: PLANS },
    autoscalingCu: { max: 16, severity: 'error', source: API },
    scaleToZero: { min: 300, max: 300, never: true, severity: 'warning', source: PLANS },
  },
  {
    name: 'scale',
    title: 'Scale',
    subscriptions: ['scale_v3'],
    fixedCu: { max: 56, severity: 'error', source: API },
    autoscalingCu: { max: 16, severity: 'error', source: API },
    scaleToZero: {
      min: 60,
      max: 604_800,
      never: true,
      severity: 'error',
      source: "the service's public OpenAPI 2.7.3, suspend_timeout_seconds",
    },
  },
]

/** Finds a tier by its name or by the API's `subscription_type`. */
export const tierOf = (word: string): Tier | undefined =>
  TIERS.find(({ name, subscriptions }) => name === word || subscriptions.includes(word))
