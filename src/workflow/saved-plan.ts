/** Saved plans: applied exactly, or not at all. */
import { dirname, resolve } from 'node:path'
import { decodePlanFile, encodePlanFile, judgeSavedPlan, type PlanFile, withActivityOf } from '../apply/index.ts'
import { isInside, readBoundedFile } from '../base/index.ts'
import { EspalierError, EXIT, MAX_JSON_BYTES, plainText } from '../model/index.ts'
import { VERSION } from '../model/version.ts'
import { digestOf } from './digest.ts'
import { type Planned, planSnapshot } from './plan.ts'
import { SNAPSHOT_START } from './snapshot-file.ts'

export interface SavedPlan {
  readonly file: PlanFile
  /** As messages name it. */
  readonly path: string
}

/**
 * @param path as it was given, for messages.
 * @param file where it is.
 * @throws {EspalierError} `E_PLAN_FILE` if it cannot be read, or is not a saved plan.
 */
export const readSavedPlan = async (path: string, file = path): Promise<SavedPlan> => {
  const text = await readBoundedFile(file, MAX_JSON_BYTES).catch((cause: NodeJS.ErrnoException) => {
    throw new EspalierError('E_PLAN_FILE', `The saved plan ${path} cannot be read (${cause.code ?? cause.message}).`, {
      hint: 'Write one with `espalier plan --out FILE`.',
      cause,
    })
  })
  if (isSnapshotText(text)) {
    throw new EspalierError('E_PLAN_FILE', `${path} is a snapshot, not a saved plan.`, {
      hint: '`apply` reads the live project itself. To plan from a snapshot: `espalier plan --live FILE`.',
    })
  }
  return { file: decodePlanFile(text, path), path }
}

/** The kind comes first in what we write, so that nothing needs to be read twice. */
const isSnapshotText = (text: string): boolean => SNAPSHOT_START.test(text.slice(0, 100))

/**
 * The manifests to read again: those given, else those that the plan was made of.
 *
 * @throws {EspalierError} `E_PLAN_FILE` if these lie neither in the current folder nor in the plan's: a file that was
 *   handed over must not choose what is read, and what an error shows of it.
 */
export const manifestPaths = (
  { file: { manifests = [] }, path }: SavedPlan,
  given: readonly string[],
  cwd = process.cwd(),
): readonly string[] => {
  if (given.length > 0) return given
  const folders = [cwd, dirname(resolve(cwd, path))]
  const outside = manifests.find((one) => !folders.some((folder) => isInside(folder, resolve(cwd, one))))
  if (outside === undefined) return manifests
  throw new EspalierError('E_PLAN_FILE', `The saved plan ${path} was made of ${outside}, which is in another folder.`, {
    hint: `Name the manifests yourself, if you trust it: espalier apply --plan ${path} ${outside}`,
  })
}

/**
 * @throws {EspalierError} `E_STALE` if the project or the manifests have changed since it was saved, `E_PLAN_EDITED` if it
 *   is not what espalier plans.
 */
export const checkSavedPlan = ({ file, path }: SavedPlan, { manifests, observed, result }: Planned): void => {
  const verdict = judgeSavedPlan(file, {
    observed,
    manifestDigest: digestOf(manifests.loaded.texts),
    espalierVersion: VERSION,
    fresh: result,
    rewound: planSnapshot(withActivityOf(file.seen, observed), manifests).result,
  })
  if (verdict.kind === 'current') return
  const [code, message, hint, lines] =
    verdict.kind === 'stale'
      ? (['E_STALE', 'is stale', 'Plan again and review', verdict.moved] as const)
      : (['E_PLAN_EDITED', 'is not what espalier plans here', EDITED, verdict.where] as const)
  throw new EspalierError(code, `The saved plan ${path} ${message}; nothing was changed.\n${listed(lines)}`, {
    hint: `${hint}: \`espalier plan --out FILE\`.`,
    exitCode: EXIT.stale,
  })
}

const EDITED =
  'Nothing has moved since, so it was edited, or planned with other flags (such as --size-table). Plan again and review'

const LISTED = 30

const listed = (lines: readonly string[]): string =>
  [...lines.slice(0, LISTED), ...(lines.length > LISTED ? [`and ${lines.length - LISTED} more`] : [])]
    .map((line) => `       - ${plainText(line)}`)
    .join('\n')

/** The text of a saved plan, made now. @param label distinguishes it from other plans of one workflow. */
export const encodeSavedPlan = (
  { manifests: { loaded, paths, shard }, observed, result }: Planned,
  label = '',
): string =>
  encodePlanFile({
    plan: result.plan,
    observed,
    manifestDigest: digestOf(loaded.texts),
    manifests: paths,
    ...(shard === undefined ? {} : { shard }),
    ...(label === '' ? {} : { label }),
    espalierVersion: VERSION,
    createdAt: new Date().toISOString(),
  })

/** The same gate for a plan that was made by this program, and stayed in it. */
export const savedPlanOf = (planned: Planned): SavedPlan => {
  const path = 'in memory'
  return { file: decodePlanFile(encodeSavedPlan(planned), path), path }
}
