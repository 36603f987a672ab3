/** Names of projects, which are shown beside ids. Nothing depends on them, so a refusal leaves them out. */
import { mapConcurrently } from '../base/index.ts'
import { ApiError } from './errors.ts'
import type { Project } from './wire.ts'

interface Source {
  /** Every project that the key can list; stops early once `isEnough`. */
  readonly list: (
    isEnough: (found: ReadonlyMap<string, Project>, pages: number) => boolean,
  ) => Promise<readonly Project[]>
  readonly get: (id: string) => Promise<Project>
}

/** One request for each of so few is no more than what the list takes. */
const FEW = 2
const AT_ONCE = 8

/** Reads each name once: one request a project, or a page of the list for up to 400 of them. */
export const projectNamesFrom = ({ list, get }: Source) => {
  const names = new Map<string, string>()
  const note = ({ id, name }: Project): void => {
    names.set(id, name)
  }
  return async (ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const unnamed = (): readonly string[] => ids.filter((id) => !names.has(id))
    const asked = unnamed()
    if (asked.length > FEW) {
      await ignoreRefusal(async () => {
        const isEnough = (found: ReadonlyMap<string, Project>, pages: number): boolean =>
          pages >= asked.length || asked.every((id) => found.has(id))
        for (const project of await list(isEnough)) note(project)
      })
    }
    await mapConcurrently(unnamed(), AT_ONCE, (id) => ignoreRefusal(async () => note(await get(id))))
    return names
  }
}

const ignoreRefusal = async (read: () => Promise<unknown>): Promise<void> => {
  await read().catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error
  })
}
