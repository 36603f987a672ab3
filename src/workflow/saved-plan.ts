/** Saved plans: applied exactly, or not at all. */
import { dirname, resolve } from 'node:path'
import { decodePlanFile, encodePlanFile, type PlanFile } from '../apply/index.ts'
import { isInside, readBoundedFile } from '../base/index.ts'
import { EspalierError, EXIT, MAX_JSON_BYTES, type Observed, type Plan, plainText } from '../model/index.ts'
import { VERSION } from '../model/version.ts'
import type { Manifests } from './manifests.ts'
import { SNAPSHOT_START } from './snapshot-file.ts'

/** @throws {EspalierError} `E_PLAN_FILE` where it cannot be read or is none. */
export const readPlanFile = async (path: string): Promise<PlanFile> => {
  const text = await readBoundedFile(path, MAX_JSON_BYTES).catch((cause: NodeJS.ErrnoException) => {
    throw new EspalierError('E_PLAN_FILE', `The saved plan ${path} cannot be read (${cause.code ?? cause.message}).`, {
      hint: 'Write one with `espalier plan --out FILE`.',
      cause,
    })
  })
  if (isSnapshotText(text)) {
    throw new EspalierError('E_PLAN_FILE', `${path} is a snapshot, and no saved plan.`, {
      hint: 'apply looks at the live project itself; to plan from a snapshot: `espalier plan --live FILE`.',
    })
  }
  return decodePlanFile(text, path)
}

/** The kind comes first in what we write, so that nothing needs to be read twice. */
const isSnapshotText = (text: string): boolean => SNAPSHOT_START.test(text.slice(0, 100))

/**
 * The manifests to read again: those given, else those that the plan was made of.
 *
 * @throws {EspalierError} `E_PLAN_FILE` where these lie neither in the current folder nor in the plan's: a file that was
 *   handed over must not choose what is read, and what an error shows of it.
 */
export const manifestsOf = (
  { manifests = [] }: PlanFile,
  path: string,
  given: readonly string[],
  cwd = process.cwd(),
): readonly string[] => {
  if (given.length > 0) return given
  const folders = [cwd, dirname(resolve(cwd, path))]
  const outside = manifests.find((one) => !folders.some((folder) => isInside(folder, resolve(cwd, one))))
  if (outside === undefined) return manifests
  throw new EspalierError('E_PLAN_FILE', `The saved plan ${path} was made of ${outside}, which lies elsewhere.`, {
    hint: `Name the manifests yourself, if you trust it: espalier apply --plan ${path} ${outside}`,
  })
}

/** @param moved what is not as it was, a sentence each. */
export const staleError = (path: string, moved: readonly string[]): EspalierError =>
  new EspalierError(
    'E_STALE',
    `The saved plan ${path} is stale; nothing was changed.\n${moved.map((line) => `       - ${plainText(line)}`).join('\n')}`,
    {
      hint: 'Plan again and review: `espalier plan --out FILE`.',
      exitCode: EXIT.stale,
    },
  )

/** The text of a saved plan, made now. */
export const encodeSavedPlan = (plan: Plan, observed: Observed, { loaded, paths, shard }: Manifests): string =>
  encodePlanFile({
    plan,
    observed,
    manifestDigest: loaded.digest,
    manifests: paths,
    ...(shard === undefined ? {} : { shard }),
    espalierVersion: VERSION,
    createdAt: new Date().toISOString(),
  })
