import type { Plan } from '../../model/index.ts'
import { counted } from './counts.ts'

/** `canary (2 projects, 3 steps)`, in the order in which they are applied; none if no manifest has waves. */
export const waveWords = ({ waves, projects, steps }: Plan): readonly string[] => {
  if (waves === undefined) return []
  const named = new Set(waves.flatMap((wave) => wave.projects))
  const rest = projects.filter((project) => !named.has(project))
  return [...waves, { name: 'projects in no wave', projects: rest }]
    .filter((wave) => wave.projects.length > 0)
    .map((wave) => {
      const own = steps.filter(({ project }) => wave.projects.includes(project)).length
      return `${wave.name} (${counted(wave.projects.length, 'project')}, ${counted(own, 'step')})`
    })
}
