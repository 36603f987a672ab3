/** Reads what a round starts from: whether the manifests can be used, and what an earlier run left unfinished. */
import { join } from 'node:path'
import type { Manifests } from '../../workflow/index.ts'
import { withGap, withSettled } from '../act/progress.ts'
import { begunChanges, type Interrupted, movedBy, openedGap, readJournal, withChains } from '../act/recovery.ts'
import type { ProjectMemory } from '../memory.ts'
import type { KeyOfProject } from '../source/accounts.ts'
import { filesBehind } from '../source/declared.ts'
import type { Declaration } from '../source/desired-state.ts'
import type { Shown } from '../tell/view.ts'

/** What a round of a project needs. */
export interface Usable {
  readonly manifests: Manifests
  readonly key: KeyOfProject
}

export interface Unusable {
  /** Why the manifests are invalid. `undefined` if they have not been read yet, or no longer declare the project. */
  readonly invalid: Shown | undefined
  readonly key: KeyOfProject | undefined
}

/** The manifests of a project and its client or, if the manifests cannot be used, why not. */
export const usableOf = (
  id: string,
  { manifests, files, problem, command }: Declaration,
  key: KeyOfProject | undefined,
): Usable | Unusable => {
  const invalid = (shown: Shown): Unusable => ({ invalid: shown, key })
  if (key === undefined) return invalid({ message: `No key in the --keys file covers project ${id}.` })
  const foreign = key.foreignFile(() => [...files, ...(manifests ? filesBehind(manifests) : [])])
  if (foreign !== undefined) {
    const message = `${foreign} may not configure ${id}: the \`paths\` of its key do not include this file.`
    return invalid({ message })
  }
  if (problem !== undefined) return invalid({ message: problem, command })
  return manifests === undefined ? { invalid: undefined, key } : { manifests, key }
}

/**
 * Reads the journal of an apply that an earlier run did not complete. A chain that left a branch without its primary is
 * known from then on, even if nothing else can be read.
 */
export const readInterrupted = async (memory: ProjectMemory): Promise<Interrupted | undefined> => {
  const { applying } = memory.file
  if (applying === undefined) return undefined
  const interrupted = await readJournal(join(memory.host.data.path, applying.journal))
  await memory.save((file) => {
    if (interrupted === undefined) return { ...withSettled(file), applying: undefined }
    const { chain, moving = [] } = file
    const changes = [...(chain?.changes ?? []), ...begunChanges(interrupted)]
    const after = {
      ...withSettled(file),
      moving: [...new Set([...moving, ...movedBy(interrupted)])],
      chain: withChains(chain, changes, interrupted.plan, applying.version),
    }
    const gap = openedGap(interrupted)
    return gap === undefined ? after : withGap(after, gap, interrupted.at)
  })
  return interrupted
}
