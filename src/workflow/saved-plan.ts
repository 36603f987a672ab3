/** Saved plans: applied exactly, or not at all. */
import { readFile } from 'node:fs/promises'
import { decodePlanFile, type PlanFile } from '../apply/index.ts'
import { EspalierError, EXIT } from '../model/index.ts'

/** @throws {EspalierError} `E_PLAN_FILE` where it cannot be read or is none. */
export const readPlanFile = async (path: string): Promise<PlanFile> => {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new EspalierError('E_PLAN_FILE', `The saved plan ${path} cannot be read (${cause.code ?? cause.message}).`, {
      hint: 'Write one with `espalier plan --out FILE`.',
      cause,
    })
  })
  return decodePlanFile(text, path)
}

/** @param moved what is not as it was, a sentence each. */
export const staleError = (path: string, moved: readonly string[]): EspalierError =>
  new EspalierError(
    'E_STALE',
    `The saved plan ${path} is stale; nothing was changed.\n${moved.map((line) => `       - ${line}`).join('\n')}`,
    {
      hint: 'Plan again and review: `espalier plan --out FILE`.',
      exitCode: EXIT.stale,
    },
  )
