import type { Plan } from '../../model/index.ts'
import { counted } from './counts.ts'

/** `canary (2 projects, 3 steps)`, in the order in which they are applied; empty if there is nothing to order. */
export const waveWords = ({ waves, projects, steps }: Plan): readonly string[] => {
  if (waves === undefined) return []
  const named = new Set(waves.flatMap((wave) => wave.projects))
  const rest = projects.filter((project) => !named.has(project))
  const own = [...waves, { name: 'projects in no wave', projects: rest }].filter((wave) => wave.projects.length > 0)
  if (own.length < 2) return []
  return own.map((wave) => {
    const count = steps.filter(({ project }) => wave.projects.includes(project)).length
    return `${wave.name} (${counted(wave.projects.length, 'project')}, ${counted(count, 'step')})`
  })
}
