import { EXIT, type ExitCode, isAllDone, isScheduled, leftOutIds, type Outcome, type Plan } from '../model/index.ts'

/**
 * 0: all done and converged. 5: the rest waits for restart windows. 130: interrupted. 3: anything else, including a
 * project left out.
 */
export const exitCodeOf = (outcome: Outcome, plan: Pick<Plan, 'leftOut'> = {}): ExitCode => {
  if (outcome.interrupted) return EXIT.interrupted
  if (outcome.converged === false || leftOutIds(plan).length > 0) return EXIT.partial
  if (isScheduled(outcome)) return EXIT.scheduled
  return isAllDone(outcome) ? EXIT.ok : EXIT.partial
}
