/** Decides what one round of a project does. */
import { chainTimes, Timings } from '../../apply/index.ts'
import {
  AGENT_STATES,
  type AgentStatus,
  type AttributeChange,
  type Change,
  type Observed,
  type Plan,
  type Step,
} from '../../model/index.ts'
import { differenceKey, type Selected } from '../../planner/index.ts'
import { type Manifests, planSnapshot } from '../../workflow/index.ts'
import type { ProjectFile } from '../data-folder.ts'
import { NO_RECORD, originOf, type ProjectRecord } from './origin.ts'
import {
  countReverts,
  isConfirmed,
  mayInterrupt,
  type Refusal,
  type Revert,
  type Sighting,
  wasRefused,
} from './retries.ts'
import {
  type AgentPolicy,
  type Difference,
  decideDifference,
  decideSteps,
  LIMITED,
  type Situation,
  type StepContext,
  type StepVerdict,
  type Verdict,
} from './table.ts'

/** The worst of these statuses. @param found the statuses of a refreshed project. If there are none, it is in sync. */
export const worstOf = (found: readonly AgentStatus[]): AgentStatus =>
  found.reduce<AgentStatus>(
    (worst, one) => (AGENT_STATES.indexOf(one.state) < AGENT_STATES.indexOf(worst.state) ? one : worst),
    { state: 'Synced' },
  )

/** What earlier rounds have recorded. */
interface Known {
  readonly record: ProjectRecord
  readonly refusals: readonly Refusal[]
  readonly reverts: readonly Revert[]
  /** By difference key. */
  readonly sightings: Readonly<Record<string, Sighting>>
}

interface RoundInput {
  /** Plans the whole project, or only the selected changes. */
  readonly plan: (select?: (change: Change) => Selected) => Plan
  readonly known: Known
  readonly situation: Situation
  readonly steps: Omit<StepContext, 'policy' | 'isDenied'>
}

export interface Round {
  /** The plan with all differences, including the differences on hold. */
  readonly whole: Plan
  /** By difference key. */
  readonly verdicts: ReadonlyMap<string, Verdict>
  /** The plan without the differences on hold. */
  readonly plan: Plan
  readonly steps: ReadonlyMap<string, StepVerdict>
  /** The steps that were left out of the plan because they were tried too often. */
  readonly exhausted: readonly Step[]
  readonly status: AgentStatus
}

/**
 * Decides how to treat each difference, and then plans again without the differences on hold. Planning again means that
 * no step ever has to be removed from a plan.
 */
export const decideRound = ({ plan, known, situation, steps }: RoundInput): Round => {
  const whole = plan()
  const verdicts = new Map(
    whole.changes.flatMap((change) =>
      partsOf(change).map((attribute) => {
        const key = differenceKey(change, attribute)
        const difference = differenceOf(change, attribute, key, known, steps.now)
        return [key, decideDifference(difference, situation)] as const
      }),
    ),
  )
  const isPlanned = (change: Change, attribute?: AttributeChange): boolean =>
    verdicts.get(differenceKey(change, attribute))?.action === 'plan'
  const select = (change: Change): Selected => {
    const [whole] = partsOf(change)
    if (whole === undefined) return isPlanned(change)
    const paths = change.attributes.filter((attribute) => isPlanned(change, attribute)).map(({ path }) => path)
    return paths.length === change.attributes.length || (paths.length > 0 && new Set(paths))
  }
  const { policy } = situation
  const decide = (left: Plan) => {
    const isDenied = left.policies?.results.some(({ outcome }) => outcome === 'denied') === true
    return decideSteps(left.steps, { ...steps, policy, isDenied })
  }
  const held = [...verdicts.values()].filter(({ action }) => action !== 'plan')
  const first = held.length === 0 ? whole : plan(select)
  const decided = decide(first)
  // These steps must not be in the plan, because no check in `apply` would block them.
  const exhausted = first.steps.filter(({ id }) => decided.get(id)?.reason === 'TooManyRestarts')
  const changes = new Set(exhausted.map(({ change }) => change))
  const left = exhausted.length === 0 ? first : plan((change) => !changes.has(change.id) && select(change))
  const rest = decide(left)
  const ids = new Set(exhausted.map(({ id }) => id))
  return {
    whole,
    verdicts,
    plan: left,
    steps: new Map([...[...decided].filter(([id]) => ids.has(id)), ...rest]),
    exhausted,
    status: worstOf([...held, ...decided.values(), ...rest.values()]),
  }
}

interface ProjectRound {
  readonly observed: Observed
  readonly manifests: Manifests
  /** The plan with all differences. */
  readonly whole: Plan
  readonly file: ProjectFile
  readonly situation: Situation
  readonly isWaveHeld: boolean
  readonly now: number
}

/** Decides a round of a project, from what is stored of it. */
export const roundOf = ({ observed, manifests, whole, file, situation, isWaveHeld, now }: ProjectRound): Round => {
  const planOf = (choose: (change: Change) => Selected): Plan =>
    planSnapshot(observed, { ...manifests, selecting: { selection: {}, leftOutProjects: 0, choose } }).result.plan
  return decideRound({
    plan: (select) => (select === undefined ? whole : planOf(select)),
    known: { ...file, record: file.record ?? NO_RECORD },
    situation,
    steps: {
      now,
      isWaveHeld,
      mayInterrupt: (step) => mayInterrupt(file, step, now),
      chainMs: chainTimes(whole, new Timings(observed)),
    },
  })
}

/** The round if the limit of restarts of all projects holds its steps. */
export const heldRound = ({ steps, verdicts, ...round }: Round): Round => {
  const left = new Map([...steps].map(([id, verdict]) => [id, verdict.action === 'run' ? LIMITED : verdict]))
  const held = [...verdicts.values()].filter(({ action }) => action !== 'plan')
  return { ...round, verdicts, steps: left, status: worstOf([LIMITED, ...held, ...left.values()]) }
}

/** Decides a round of a chain that has left a branch without its primary. Only consents and protection hold it up. */
export const chainRound = (plan: Plan, policy: AgentPolicy, now: number): Round => {
  // There are no connections to disrupt.
  const steps = plan.steps.map((step) => ({ ...step, windows: [] }))
  const context = { policy, now, isDenied: false, isWaveHeld: false, mayInterrupt: () => true, chainMs: () => 0 }
  const decided = decideSteps(steps, context)
  return {
    whole: plan,
    verdicts: new Map(),
    plan,
    steps: decided,
    exhausted: [],
    status: worstOf([...decided.values()]),
  }
}

/** An update is decided separately for each attribute. `undefined` stands for a change that is decided as a whole. */
export const partsOf = ({ kind, attributes }: Change): readonly (AttributeChange | undefined)[] =>
  kind === 'update' ? attributes : [undefined]

const differenceOf = (
  change: Change,
  attribute: AttributeChange | undefined,
  key: string,
  { record, refusals, reverts, sightings }: Known,
  now: number,
): Difference => {
  const entry = record.entries[key]
  const { want = null, seen = null } = entry ?? {}
  const sighting = sightings[key]
  return {
    origin: entry === undefined ? 'unrecorded' : originOf(entry),
    kind: change.kind,
    impact: change.unlessIdle ?? attribute?.impact ?? change.impact,
    hasWindow: (change.windows ?? []).length > 0,
    wasRefused: wasRefused(refusals, { key, want, live: seen }),
    isConfirmed: sighting !== undefined && isConfirmed(sighting),
    reverts: countReverts(reverts, key, want, now),
  }
}
