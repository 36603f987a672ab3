import { EXIT, type ExitCode, isAllDone, type Outcome } from '../model/index.ts'

/** 0 everything done and the project is as asked; 130 interrupted; 3 anything less. */
export const exitCodeOf = (outcome: Outcome): ExitCode => {
  if (outcome.interrupted) return EXIT.interrupted
  return isAllDone(outcome) && outcome.converged !== false ? EXIT.ok : EXIT.partial
}
