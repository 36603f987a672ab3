/** Divides a plan into waves. A wave starts only when every step of the earlier waves is done. */
import { counted } from '../base/index.ts'
import type { Plan, Step, StepOutcome } from '../model/index.ts'
import { notStarted } from './context.ts'

export interface Wave {
  readonly name: string
  readonly steps: readonly Step[]
}

/** The steps by wave, in order. If the plan has no waves, all steps are in one. */
export const wavesOf = ({ waves = [], steps }: Plan): readonly Wave[] => {
  const position = new Map(waves.flatMap(({ projects }, at) => projects.map((project) => [project, at] as const)))
  const last = waves.length
  return [...waves.map(({ name }) => name), 'projects in no wave'].flatMap((name, at) => {
    const own = steps.filter(({ project }) => (position.get(project) ?? last) === at)
    return own.length === 0 ? [] : [{ name, steps: own }]
  })
}

/** Why a wave must not start, or `undefined` if the earlier waves are done. */
export const waveBlockedBy = (
  { waves = [], leftOut = [] }: Plan,
  wave: Wave,
  before: readonly Wave[],
  outcomes: ReadonlyMap<string, StepOutcome>,
): ((step: Step) => StepOutcome) | undefined => {
  const undone = before.flatMap(({ name, steps }) => {
    const open = steps.flatMap(({ id }) => outcomes.get(id) ?? []).filter(({ status }) => status !== 'done')
    return open.length === 0 ? [] : [{ name, open }]
  })
  const own = waves.findIndex(({ name }) => name === wave.name)
  const unplanned = waves
    .slice(0, own < 0 ? waves.length : own)
    .find(({ projects }) => leftOut.some(({ project }) => projects.includes(project)))
  const [first] = undone
  if (first === undefined && unplanned === undefined) return undefined
  const isOnlyWaiting = unplanned === undefined && undone.every(({ open }) => open.every(isScheduled))
  const message =
    first === undefined
      ? `A project in an earlier wave, ${unplanned?.name}, could not be planned.`
      : `An earlier wave, ${first.name}, has ${counted(first.open.length, 'unfinished step')}.`
  return (step) =>
    isOnlyWaiting
      ? notStarted(step, 'scheduled', 'outside-window', message)
      : notStarted(step, 'skipped', 'depends-on-failed', message)
}

const isScheduled = ({ status }: StepOutcome): boolean => status === 'scheduled'
