/** The order in which the projects of a fleet are applied. */
import type { DesiredWave } from './desired.ts'
import { globMatches } from './glob.ts'

/** Index of the first wave that includes the project; `waves.length` if none does. */
export const waveOf = (waves: readonly DesiredWave[], project: string): number => {
  const wave = waves.findIndex(({ projects }) => projects.some((glob) => globMatches(glob, project)))
  return wave < 0 ? waves.length : wave
}
