/** Writes the plans of `plan --out` and `plan --format json`, and reads the former. Plan files are not trusted. */
import { createHash } from 'node:crypto'
import { canonicalJson, EspalierError, EXIT, parseJson, plainJson } from '../../base/index.ts'
import { issueAt } from '../../base/issue-text.ts'
import { type Observed, type Origin, PLAN_FORMAT_VERSION, type Plan } from '../../model/index.ts'
import { type PlanFile, planFileShape } from '../shapes.ts'
import { keptSettings, seenOf } from './recorded-state.ts'

export interface PlanFileParts extends Pick<PlanFile, 'espalier' | 'createdAt' | 'manifestDigest' | 'label'> {
  readonly plan: Plan
  /** The snapshot that the plan was made from. */
  readonly observed: Observed
  readonly manifests?: readonly string[]
}

/** Encodes a plan file. The header comes first, for people who open the file. */
export const encodePlanFile = (parts: PlanFileParts): string => {
  const { espalier, createdAt, observed, plan, ...rest } = parts
  const header = { kind: 'espalier-plan', formatVersion: PLAN_FORMAT_VERSION, espalier, createdAt }
  const kept = keptSettings(observed, plan)
  const document = { ...header, ...rest, keptSettings: kept, seen: seenOf(observed, plan.projects), plan }
  // The digest covers the document as JSON, without keys that are `undefined`.
  return encode({ ...document, digest: digestOf(JSON.parse(JSON.stringify(document))) })
}

export interface PrintedExtra {
  /** Which changes are introduced, and which correct drift. */
  readonly origin?: Origin & {
    /** The base's commit. */
    readonly base: string
  }
}

/** Encodes a plan in the format that `schemas/plan.schema.json` describes. */
export const jsonPlan = (plan: Plan, extra: PrintedExtra = {}): string => encode({ ...plan, ...extra })

const encode = (document: object): string => `${plainJson(document, 2)}\n`

const digestOf = (document: unknown): string => createHash('sha256').update(canonicalJson(document)).digest('hex')

/**
 * @param name the file's name, for messages.
 * @throws {EspalierError} `E_PLAN_FILE` if it is not a saved plan or has another format version. `E_STALE` if it was
 *   changed after it was saved.
 */
export const decodePlanFile = (text: string, name: string): PlanFile => {
  const value = valueIn(text, name)
  const version = (value as { readonly formatVersion?: unknown } | null)?.formatVersion
  if (typeof version === 'string' && version !== PLAN_FORMAT_VERSION) {
    throw new EspalierError(
      'E_PLAN_FILE',
      `${name} is a plan of format ${version}; this program reads format ${PLAN_FORMAT_VERSION}.`,
      { hint: 'Plan again with this version of espalier.' },
    )
  }
  const parsed = planFileShape.safeParse(value)
  if (!parsed.success) {
    throw notAPlan(name, issueAt(parsed.error.issues[0], 'it'))
  }
  if (!isIntact(value)) {
    throw new EspalierError(
      'E_STALE',
      `${name} was edited after espalier wrote it: its digest does not match its contents.`,
      { hint: 'Plan again. To change a plan, change its manifests.', exitCode: EXIT.stale },
    )
  }
  return parsed.data
}

/** Checks the digest of the value as it was read, so that it covers unknown keys too. */
const isIntact = (value: unknown): boolean => {
  const { digest, ...rest } = value as Readonly<Record<string, unknown>>
  try {
    return digest === digestOf(rest)
  } catch {
    // The value is nested too deeply to have been written by Espalier.
    return false
  }
}

const valueIn = (text: string, name: string): unknown => {
  const read = parseJson(text)
  if (read.ok) return read.value
  throw notAPlan(name, read.why)
}

const notAPlan = (name: string, why: string): EspalierError =>
  new EspalierError('E_PLAN_FILE', `${name} is not a saved plan: ${why}.`, {
    hint: 'Write one with `espalier plan --out FILE`.',
  })
