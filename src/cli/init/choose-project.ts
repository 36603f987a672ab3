/** Which project a first manifest is about. */
import { ApiError, type ReadApi } from '../../api/index.ts'
import { EspalierError } from '../../model/index.ts'
import { plainText } from '../../report/index.ts'
import { askLine } from '../ask.ts'
import type { Io } from '../io.ts'
import { canAsk, print } from '../terminal.ts'

/** More are not worth reading through. */
const SHOWN = 20

/** The only one that the key sees, or the one that a person picks. */
export const chooseProject = async (api: ReadApi, io: Io): Promise<string> => {
  const projects = await api.listProjects().catch((error: unknown) => {
    if (!(error instanceof ApiError) || (error.status !== 403 && error.status !== 404)) throw error
    throw new EspalierError('E_USAGE', 'This key cannot list projects, so it may be one of a single project.', {
      hint: 'Name the project: `espalier init --project ID`.',
      cause: error,
    })
  })
  const [first, second] = projects
  if (first === undefined) {
    throw new EspalierError('E_PROJECT_UNKNOWN', 'The key sees no project.', { hint: 'Make one, or use another key.' })
  }
  if (second === undefined) return first.id
  const listed = projects.slice(0, SHOWN).map(({ id, name }) => `  ${plainText(id)}  ${plainText(name ?? '')}`)
  const more = projects.length > SHOWN ? [`  and ${projects.length - SHOWN} more`] : []
  const list = [...listed, ...more].join('\n')
  if (!canAsk(io)) {
    throw new EspalierError('E_USAGE', `The key sees ${projects.length} projects:\n${list}`, {
      hint: 'Name one: `espalier init --project ID`.',
    })
  }
  print(`The key sees ${projects.length} projects:\n${list}`, io.stderr)
  const answer = (await askLine('Which one is the manifest to be about? Its id: ', io)) ?? ''
  if (projects.some(({ id }) => id === answer)) return answer
  throw new EspalierError('E_PROJECT_UNKNOWN', `There is no project ${plainText(answer)} among them.`, {
    hint: 'Run it again, or name it: `espalier init --project ID`.',
  })
}
