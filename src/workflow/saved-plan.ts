/** Reads, checks and writes saved plans, which are applied exactly as saved or not at all. */
import { createHash } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import { decodePlanFile, encodePlanFile, judgeSavedPlan, type PlanFile, withActivityOf } from '../apply/index.ts'
import {
  defined,
  EspalierError,
  EXIT,
  fileProblem,
  isInside,
  MAX_JSON_BYTES,
  plainText,
  readBoundedFile,
  shellWord,
} from '../base/index.ts'
import { VERSION } from '../base/version.ts'
import { isEmptyPlan } from '../model/index.ts'
import { type Planned, planSnapshot } from './plan.ts'
import { withoutMaxRestarts } from './review-settings.ts'
import { SNAPSHOT_START } from './snapshot-file.ts'

export interface SavedPlan {
  readonly file: PlanFile
  /** The path to show in messages. */
  readonly path: string
}

/**
 * @param path the path to show in messages.
 * @param file the path to read from.
 * @throws {EspalierError} `E_PLAN_FILE` if the file cannot be read, or is not a saved plan.
 */
export const readSavedPlan = async (path: string, file = path): Promise<SavedPlan> => {
  const text = await readBoundedFile(file, MAX_JSON_BYTES).catch((cause: unknown) => {
    throw new EspalierError('E_PLAN_FILE', `The plan ${path} cannot be read (${fileProblem(cause)}).`, {
      hint: 'Write one with `espalier plan --out FILE`.',
      cause,
    })
  })
  // Espalier writes the kind first, so it is enough to look at the start of the file.
  if (SNAPSHOT_START.test(text.slice(0, 100))) {
    throw new EspalierError('E_PLAN_FILE', `${path} is a snapshot, not a saved plan.`, {
      hint: '`apply` reads the live project. To plan from a snapshot: `espalier plan --live FILE`.',
    })
  }
  return { file: decodePlanFile(text, path), path }
}

/**
 * Returns the paths of the manifests to read again. If the user names none, they are the ones that the plan names.
 *
 * @throws {EspalierError} `E_PLAN_FILE` if the plan names files outside both the current folder and its own folder. A
 *   plan file from someone else must not decide which files are read and quoted in errors.
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
  throw new EspalierError(
    'E_PLAN_FILE',
    `The saved plan ${path} was made from ${outside}, which is in another folder.`,
    {
      hint: `If you trust it, name the manifests yourself: \`espalier apply ${shellWord(path)} ${manifests.map(shellWord).join(' ')}\`.`,
    },
  )
}

/**
 * @throws {EspalierError} `E_STALE` if the project or the manifests have changed since the plan was saved, or if
 *   nothing has changed and yet the plan does not match what Espalier plans.
 */
export const checkSavedPlan = ({ file, path }: SavedPlan, planned: Planned): void => {
  const { observed } = planned
  const manifests = withoutMaxRestarts(planned.manifests)
  const verdict = judgeSavedPlan(file, {
    observed,
    manifestDigest: digestOf(manifests.loaded.texts),
    espalierVersion: VERSION,
    fresh: manifests === planned.manifests ? planned.result : planSnapshot(observed, manifests).result,
    rewound: planSnapshot(withActivityOf(file.seen, observed), manifests).result,
  })
  if (verdict.kind === 'current') return
  const isMet = planned.result.ok && isEmptyPlan(planned.result.plan)
  const [message, hint, lines] =
    verdict.kind === 'stale'
      ? ([isMet ? APPLIED : 'is stale', 'Plan again and review', verdict.moved] as const)
      : (['does not match what Espalier plans', EDITED, verdict.where] as const)
  throw new EspalierError('E_STALE', `The saved plan ${path} ${message}; nothing was changed.\n${listed(lines)}`, {
    hint: `${hint}: \`espalier plan --out ${path.endsWith('.json') ? shellWord(path) : 'FILE'}\`.`,
    exitCode: EXIT.stale,
  })
}

const APPLIED = 'is stale: it seems to have been applied already, because the project matches the manifests'

const EDITED = 'Nothing has changed since, so it was edited or made with different flags. Plan again and review'

const LISTED = 30

const listed = (lines: readonly string[]): string =>
  [...lines.slice(0, LISTED), ...(lines.length > LISTED ? [`and ${lines.length - LISTED} more`] : [])]
    .map((line) => `       - ${plainText(line)}`)
    .join('\n')

/** The digest of a set of files. It does not depend on the order in which they were read. */
export const digestOf = (texts: ReadonlyMap<string, string>): string => {
  const hash = createHash('sha256')
  for (const path of [...texts.keys()].sort()) {
    const text = texts.get(path) ?? ''
    hash.update(`${path}\0${text.length}\0${text}\0`)
  }
  return hash.digest('hex')
}

/** @param label distinguishes the plan from the other plans of the same workflow. */
export const encodeSavedPlan = ({ manifests: { loaded, paths }, observed, result }: Planned, label = ''): string =>
  encodePlanFile({
    plan: result.plan,
    observed,
    manifestDigest: digestOf(loaded.texts),
    manifests: paths,
    ...defined({ label: label || undefined }),
    espalier: VERSION,
    createdAt: new Date().toISOString(),
  })

/** Treats a plan in memory as a saved plan, so that it is checked in the same way. */
export const savedPlanOf = (planned: Planned): SavedPlan => {
  const path = 'in memory'
  return { file: decodePlanFile(encodeSavedPlan(planned), path), path }
}
