/** Merges the plans of a fleet's shards, which several runs have made, into one plan. */
import { decodePlan, type PlanFile, type PrintedPlan } from '../apply/index.ts'
import { defined } from '../base/index.ts'
import { EspalierError, leftOutIds, type Origin, type Plan, parseShard } from '../model/index.ts'
import { mergeOrigins, mergePlans } from '../planner/index.ts'
import { readPlanText } from './saved-plan.ts'

export interface Merged {
  readonly plan: Plan
  /** Present if the plans were made with a base. The base must be the same for all of them. */
  readonly origin?: Origin & { readonly base: string }
  /** The shards for which none of the files contains a plan. */
  readonly missing: readonly string[]
  /** When the oldest of the saved plans was made. Absent if none of the files is a saved plan. */
  readonly createdAt?: string
}

interface Part {
  readonly path: string
  readonly plan: Plan
  readonly shard?: string
  readonly origin?: PrintedPlan['origin']
  readonly file?: PlanFile
}

/**
 * @throws {EspalierError} `E_PLAN_FILE` if a file is not a plan. `E_MERGE` if the plans do not make up one fleet,
 *   because a project appears twice, a shard is missing, or they were made from different manifests or bases.
 */
export const mergePlanFiles = async (paths: readonly string[]): Promise<Merged> => {
  const merged = await mergePresentPlans(paths)
  const { missing } = merged
  if (missing.length === 0) return merged
  const count = missing[0]?.split('/')[1]
  throw wrong(
    `Plans are missing for ${missing.length} of the fleet's ${count} shards: ${missing.join(', ')}.`,
    'Pass the plans of all shards: a merged plan must be complete.',
  )
}

/** Like {@link mergePlanFiles}, but leaves it to the caller to report missing shards. */
export const mergePresentPlans = async (paths: readonly string[]): Promise<Merged> => {
  const parts = await Promise.all(paths.map(readPart))
  checkProjects(parts)
  const missing = missingShards(parts)
  checkSame(parts, 'manifests', ({ file }) => file?.manifestDigest)
  const created = parts.flatMap(({ file }) => file?.createdAt ?? []).sort()[0]
  const origin = originOf(parts)
  return {
    plan: mergePlans(parts.map(({ plan }) => plan)),
    missing,
    ...defined({ origin, createdAt: created }),
  }
}

const readPart = async (path: string): Promise<Part> => {
  const read = decodePlan(await readPlanText(path), path)
  if ('kind' in read) return { path, plan: read.plan, file: read, ...defined({ shard: read.shard }) }
  const { origin, shard, ...plan } = read
  return { path, plan, ...defined({ origin, shard }) }
}

const checkProjects = (parts: readonly Part[]): void => {
  const owners = new Map<string, string>()
  for (const { path, plan } of parts) {
    for (const project of [...plan.projects, ...leftOutIds(plan)]) {
      const first = owners.get(project)
      if (first !== undefined) throw wrong(`The project \`${project}\` is in ${first} and in ${path}.`, TWICE)
      owners.set(project, path)
    }
  }
}

/** Finds missing shards. If one plan is for a shard, all must be, or a missing shard would seem to have no changes. */
const missingShards = (parts: readonly Part[]): readonly string[] => {
  if (parts.every(({ shard }) => shard === undefined)) return []
  const plain = parts.find(({ shard }) => shard === undefined)
  if (plain !== undefined) throw wrong(`${plain.path} is not the plan of a shard, but other files are.`, AGAIN)
  checkSame(parts, 'numbers of shards', ({ shard }) => shard?.split('/')[1])
  const here = new Set(parts.map(({ shard }) => shard))
  const count = parseShard(parts[0]?.shard ?? '')?.count ?? 0
  const twice = parts.find(({ shard }, at) => parts.findIndex((other) => other.shard === shard) < at)
  if (twice !== undefined) throw wrong(`Shard ${twice.shard} appears twice, the second time in ${twice.path}.`, TWICE)
  return Array.from({ length: count }, (_, at) => `${at + 1}/${count}`).filter((one) => !here.has(one))
}

const checkSame = (parts: readonly Part[], what: string, fieldOf: (part: Part) => string | undefined): void => {
  const known = parts.filter((part) => fieldOf(part) !== undefined)
  const [first] = known
  const other = known.find((part) => first !== undefined && fieldOf(part) !== fieldOf(first))
  if (first !== undefined && other !== undefined) {
    throw wrong(`${first.path} and ${other.path} have different ${what}.`, AGAIN)
  }
}

const originOf = (parts: readonly Part[]): Merged['origin'] => {
  const origins = parts.flatMap(({ origin }) => origin ?? [])
  const base = origins[0]?.base
  if (base === undefined) return undefined
  const without = parts.find(({ origin }) => origin === undefined)
  if (without !== undefined)
    throw wrong(`${without.path} was planned without --base, but other plans were planned with it.`, AGAIN)
  checkSame(parts, 'bases', ({ origin }) => origin?.base)
  return { base, ...mergeOrigins(origins) }
}

const TWICE = 'Pass each plan once.'
const AGAIN = 'Plan all shards again from one commit, with the same flags.'

const wrong = (message: string, hint: string): EspalierError => new EspalierError('E_MERGE', message, { hint })
