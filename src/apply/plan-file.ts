/** Saved plans: written once, read back with suspicion, refused once the project has moved. */
import { createHash } from 'node:crypto'
import type { z } from 'zod'
import {
  ATTRIBUTE_KEYS,
  EspalierError,
  type Observed,
  type ObservedCompute,
  PLAN_FORMAT_VERSION,
  type Plan,
  type PlanResult,
  parseJson,
  plainJson,
  type Shard,
  shardText,
} from '../model/index.ts'
import { type PlanFile, type PrintedPlan, planFileShape, printedPlanShape } from './shapes.ts'

export interface PlanFileParts {
  readonly plan: Plan
  readonly observed: Observed
  /** SHA-256 of the manifests, hexadecimal. */
  readonly manifestDigest: string
  /** The paths that the manifests were read from. */
  readonly manifests?: readonly string[]
  /** Of which part of the fleet it is. */
  readonly shard?: Shard
  readonly espalierVersion: string
  /** ISO 8601. */
  readonly createdAt: string
}

export const encodePlanFile = (parts: PlanFileParts): string => {
  const file: PlanFile = {
    kind: 'espalier-plan',
    formatVersion: PLAN_FORMAT_VERSION,
    espalier: parts.espalierVersion,
    createdAt: parts.createdAt,
    manifestDigest: parts.manifestDigest,
    ...(parts.manifests === undefined ? {} : { manifests: [...parts.manifests] }),
    ...(parts.shard === undefined ? {} : { shard: shardText(parts.shard) }),
    fingerprints: fingerprints(parts.observed, parts.plan),
    plan: JSON.parse(JSON.stringify(parts.plan)),
  }
  return `${plainJson(file, 2)}\n`
}

/**
 * @param name the file's name, for messages.
 * @throws {EspalierError} `E_PLAN_FILE` where it is no saved plan, or one of another version.
 */
export const decodePlanFile = (text: string, name: string): PlanFile =>
  decode(planFileShape, valueIn(text, name), name, 'Write one with `espalier plan --out FILE`.')

/**
 * Either form: as `plan --out` saves it, or as `plan --format json` prints it.
 *
 * @param name the file's name, for messages.
 * @throws {EspalierError} `E_PLAN_FILE` where it is neither, or one of another version.
 */
export const decodePlan = (text: string, name: string): PlanFile | PrintedPlan => {
  const value = valueIn(text, name)
  const hint = 'Write one with `espalier plan --out FILE` or `espalier plan --format json`.'
  return fieldOf(value, 'kind') === undefined
    ? decode(printedPlanShape, value, name, hint)
    : decode(planFileShape, value, name, hint)
}

const decode = <T>(shape: z.ZodType<T>, value: unknown, name: string, hint: string): T => {
  const version = fieldOf(value, 'formatVersion')
  if (typeof version === 'string' && version !== PLAN_FORMAT_VERSION) {
    throw new EspalierError(
      'E_PLAN_FILE',
      `${name} is a plan of format ${version}; this program reads format ${PLAN_FORMAT_VERSION}.`,
      { hint: 'Plan again with this version of espalier.' },
    )
  }
  const parsed = shape.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new EspalierError(
    'E_PLAN_FILE',
    `${name} is no saved plan: ${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'unreadable'}.`,
    { hint },
  )
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined

const valueIn = (text: string, name: string): unknown => {
  const read = parseJson(text)
  if (read.ok) return read.value
  throw new EspalierError('E_PLAN_FILE', `${name} is no saved plan: ${read.why}.`, {
    hint: 'Write one with `espalier plan --out FILE`.',
  })
}

/**
 * A sentence for each thing that moved since the plan was saved. None: its steps are the very same that would be planned
 * now, so it may run.
 */
export const whatMoved = (
  file: PlanFile,
  fresh: PlanResult,
  observed: Observed,
  manifestDigest: string,
): readonly string[] => {
  if (!fresh.ok) return fresh.diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message)
  if (stepsOf(file.plan) === stepsOf(fresh.plan)) return []
  const now = fingerprints(observed, file.plan)
  const moved = Object.keys({ ...file.fingerprints, ...now })
    .sort()
    .filter((id) => file.fingerprints[id] !== now[id])
    .map((id) => {
      if (now[id] === undefined) return `Compute ${id} is gone.`
      return file.fingerprints[id] === undefined ? `Compute ${id} is new.` : `Compute ${id} has changed.`
    })
  if (file.manifestDigest !== manifestDigest) moved.unshift('The manifests have changed.')
  return moved.length > 0 ? moved : ['The steps that would be planned now are not those of the saved plan.']
}

/**
 * What was reviewed: what differs, from what to what, and the steps. Where a declaration stands and whether a compute is
 * active may differ as long as no impact does.
 */
const stepsOf = ({ changes, steps }: Plan): string =>
  JSON.stringify([
    changes.map(({ id, kind, from, attributes }) => [
      id,
      kind,
      from?.id ?? null,
      attributes.map(({ path, before, after }) => [path, before ?? null, after]),
    ]),
    steps.map(({ id, request, impact, consents, refused, windows, after }) => [
      id,
      request,
      impact,
      consents,
      refused ?? null,
      windows ?? null,
      after,
    ]),
  ])

/** Only of the planned projects: more may have been read. */
const fingerprints = ({ projects }: Observed, plan: Plan): Record<string, string> =>
  Object.fromEntries(
    projects
      .filter(({ id }) => plan.projects.includes(id))
      .flatMap(({ computes }) => computes)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .map((compute) => [compute.id, fingerprint(compute)]),
  )

/** Over what a change would be noticed by; never over what moves by itself (state, last active). */
const fingerprint = ({ branchId, type, attributes }: ObservedCompute): string =>
  createHash('sha256')
    .update(JSON.stringify([branchId, type, ...ATTRIBUTE_KEYS.map((key) => canonical(attributes[key]))]))
    .digest('hex')

const canonical = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
    : (value ?? null)
