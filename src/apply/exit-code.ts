import { EXIT, type ExitCode, isAllDone, isScheduled, leftOutIds, type Outcome, type Plan } from '../model/index.ts'

/**
 * Returns the exit code of a run: 0 if all steps are done and the projects have converged, 1 if nothing was changed
 * because everything was refused, 5 if the remaining steps wait for restart windows, 130 if the run was interrupted, and
 * 3 otherwise, for example if a project was left out.
 */
export const exitCodeOf = (outcome: Outcome, plan: Pick<Plan, 'leftOut'> = {}): ExitCode => {
  if (outcome.interrupted) return EXIT.interrupted
  if (leftOutIds(plan).length > 0) return EXIT.partial
  if (isRefused(outcome)) return EXIT.error
  if (outcome.converged === false) return EXIT.partial
  if (isScheduled(outcome)) return EXIT.scheduled
  return isAllDone(outcome) ? EXIT.ok : EXIT.partial
}

const isRefused = ({ steps }: Outcome): boolean =>
  steps.some(({ reason }) => reason === 'protected') &&
  steps.every(({ reason }) => reason === 'protected' || reason === 'depends-on-failed')
