/** The order of projects in a rollout. */
import type { DesiredWave } from './desired.ts'
import { globMatches } from './glob.ts'

/** The wave that a project is in, counted from 0: the first that names it, and `waves.length` if none does. */
export const waveOf = (waves: readonly DesiredWave[], project: string): number => {
  const wave = waves.findIndex(({ projects }) => projects.some((glob) => globMatches(glob, project)))
  return wave < 0 ? waves.length : wave
}
