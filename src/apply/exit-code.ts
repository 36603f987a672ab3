import { EXIT, type ExitCode, isAllDone, isScheduled, leftOutIds, type Outcome, type Plan } from '../model/index.ts'

/**
 * 0 everything done and every project is as asked; 5 as far as restart windows let it; 130 interrupted; 3 anything less,
 * a project that the plan leaves out included.
 */
export const exitCodeOf = (outcome: Outcome, plan: Pick<Plan, 'leftOut'> = {}): ExitCode => {
  if (outcome.interrupted) return EXIT.interrupted
  if (outcome.converged === false || leftOutIds(plan).length > 0) return EXIT.partial
  if (isScheduled(outcome)) return EXIT.scheduled
  return isAllDone(outcome) ? EXIT.ok : EXIT.partial
}
