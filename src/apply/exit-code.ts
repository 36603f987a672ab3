import { EXIT, type ExitCode, isAllDone, isScheduled, type Outcome } from '../model/index.ts'

/** 0 everything done and the project is as asked; 5 as far as restart windows let it; 130 interrupted; 3 anything less. */
export const exitCodeOf = (outcome: Outcome): ExitCode => {
  if (outcome.interrupted) return EXIT.interrupted
  if (outcome.converged === false) return EXIT.partial
  if (isScheduled(outcome)) return EXIT.scheduled
  return isAllDone(outcome) ? EXIT.ok : EXIT.partial
}
