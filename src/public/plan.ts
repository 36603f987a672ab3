/** Loads manifests, reads live projects and plans changes. */
import { snapshot } from '../api/index.ts'
import { EspalierError } from '../base/index.ts'
import type { Diagnostic, Observed, Origin, Plan } from '../model/index.ts'
import {
  encodeSavedPlan,
  type Planned as InternalPlanned,
  manifestsAt,
  planLive,
  planSnapshot,
  readManifests,
} from '../workflow/index.ts'
import type { ReadClient } from './clients.ts'
import { clients, manifests as internals, plans } from './internals.ts'

export interface LoadOptions {
  /** The directory that relative paths start from. Default: the current directory. */
  readonly cwd?: string
  /** A git ref. The manifests are read from that commit, without checking it out. */
  readonly ref?: string
}

/** Returned by `loadManifests`. */
export interface Manifests {
  /** Ids of the declared projects, without duplicates. */
  readonly projects: readonly string[]
  /** Errors and warnings, each with its file, line and column. If there is an error, nothing can be planned. */
  readonly diagnostics: readonly Diagnostic[]
  /** Every manifest file that was read. */
  readonly files: readonly string[]
}

/**
 * Reads manifests from files, directories and globs. Default: `espalier.yaml`, `espalier.yml` or `espalier/`.
 *
 * @throws {EspalierError} `E_NO_MANIFESTS` if no manifest is found; `E_GIT` if the ref cannot be read.
 */
export const loadManifests = async (
  paths: readonly string[] = [],
  { cwd = process.cwd(), ref }: LoadOptions = {},
): Promise<Manifests> => {
  const read = ref === undefined ? await readManifests(paths, { cwd }) : await manifestsAt(ref, { paths }, { cwd })
  const { desired, diagnostics, files } = read.loaded
  const manifests = { projects: [...new Set(desired.documents.map(({ project }) => project))], diagnostics, files }
  return internals.publish(manifests, read)
}

export interface PlanOptions {
  /** The manifests on the base branch, to distinguish the changes that `manifests` introduces from existing drift. */
  readonly base?: Manifests
  /** Whether to estimate how long the steps will take, based on past operations. Default: yes. */
  readonly estimate?: boolean
  /** How many projects to read at the same time. Default: 16. */
  readonly concurrency?: number
}

/** Returned by `plan` or `planFrom`. */
export interface Planned {
  /** Covers every project that could be planned. */
  readonly plan: Plan
  /** Empty if every project could be planned; otherwise `plan.leftOut` names the others. */
  readonly diagnostics: readonly Diagnostic[]
  /** The snapshot on which the plan is based. */
  readonly observed: Observed
  /** Which changes are introduced, which are drift, and what is no longer declared. Only set if `base` was given. */
  readonly origin?: Origin
}

/** Reads live projects by id. Projects that cannot be read are listed in `missing` or `unreadable`. */
export const observe = async (
  client: ReadClient,
  projects: readonly string[],
  options: { readonly concurrency?: number } = {},
): Promise<Observed> => snapshot(clients.of(client), projects, options)

/** Reads the declared projects and plans the changes that bring them in line with the manifests. Changes nothing. */
export const plan = async (client: ReadClient, manifests: Manifests, options: PlanOptions = {}): Promise<Planned> =>
  published(await planLive(clients.of(client), usable(manifests), inside(options)))

/** Plans against an existing snapshot, without network access. */
export const planFrom = (observed: Observed, manifests: Manifests, options: Pick<PlanOptions, 'base'> = {}): Planned =>
  published(planSnapshot(observed, usable(manifests), inside(options)))

/** Returns the content of a plan file that `espalier apply FILE` can apply. */
export const savePlan = (planned: Planned): string => encodeSavedPlan(plans.of(planned))

const inside = ({ base, ...options }: PlanOptions) => ({
  ...options,
  ...(base === undefined ? {} : { base: internals.of(base) }),
})

const published = (planned: InternalPlanned): Planned => {
  const { result, observed, comparison } = planned
  const made = {
    plan: result.plan,
    diagnostics: result.ok ? [] : result.diagnostics,
    observed,
    ...comparison,
  }
  return plans.publish(made, planned)
}

/** A plan from manifests with errors would be incomplete. */
const usable = (manifests: Manifests) => {
  const wrong = manifests.diagnostics.find(({ severity }) => severity === 'error')
  if (wrong === undefined) return internals.of(manifests)
  throw new EspalierError(wrong.code, wrong.message, { hint: wrong.hint })
}
