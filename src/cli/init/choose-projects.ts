/** Chooses the projects that `init` writes manifests for. */
import type { Project, ReadApi } from '../../api/index.ts'
import { EspalierError } from '../../model/index.ts'
import { plainText } from '../../report/index.ts'
import { askLine } from '../ask.ts'
import type { Io } from '../io.ts'
import { visibleProjects } from '../live-projects.ts'
import { canAsk, print } from '../terminal.ts'

const SHOWN = 20

/** All projects of the key, unless the user picks one at the terminal. */
export const chooseProjects = async (api: ReadApi, io: Io): Promise<readonly string[]> => {
  const projects = await visibleProjects(api)
  const ids = projects.map(({ id }) => id)
  if (projects.length === 1 || !canAsk(io)) return ids
  const listed = projects.slice(0, SHOWN).map(({ id, name }) => `  ${plainText(name)}  ${plainText(id)}`)
  const more = projects.length > SHOWN ? [`  and ${projects.length - SHOWN} more`] : []
  print([`The key sees ${projects.length} projects:`, ...listed, ...more].join('\n'), io.stderr)
  const answer = await askLine('Press Enter to import all of them, or type an id or name: ', io)
  if (answer === undefined) throw new EspalierError('E_USAGE', 'No project was chosen.', { hint: 'Use --project ID.' })
  return answer === '' ? ids : [pick(answer, projects)]
}

const pick = (answer: string, projects: readonly Project[]): string => {
  const chosen =
    projects.find(({ id }) => id === answer) ?? projects.find(({ name }) => name.toLowerCase() === answer.toLowerCase())
  if (chosen !== undefined) return chosen.id
  throw new EspalierError('E_PROJECT_UNKNOWN', `There is no project ${plainText(answer)}.`, {
    hint: 'Run it again, or use --project ID.',
  })
}
