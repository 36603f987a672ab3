/** Manifests and live projects, to a plan. */
import { snapshot } from '../api/index.ts'
import { type Diagnostic, EspalierError, type Observed, type Origin, type Plan } from '../model/index.ts'
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
  /** What paths are relative to. Default: the process's folder. */
  readonly cwd?: string
  /** A git ref: the manifests as they are at that commit, read without checking anything out. */
  readonly ref?: string
}

/** From `loadManifests`. */
export interface Manifests {
  /** Ids of the projects that they declare, each once. */
  readonly projects: readonly string[]
  /** Errors and warnings, with file, line and column. Where one is an error, nothing is planned. */
  readonly diagnostics: readonly Diagnostic[]
  /** Every manifest that was read. */
  readonly files: readonly string[]
}

/**
 * Reads files, directories and globs; without any, `espalier.yaml`, `espalier.yml` or `espalier/`.
 *
 * @throws {EspalierError} `E_NO_MANIFESTS` if there is nothing to read; `E_GIT` if the ref cannot be read.
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
  /** Other manifests, such as those of the base branch: the plan says what these introduce, and what is drift. */
  readonly base?: Manifests
  /** Also read past operations, and estimate how long it takes. Default: yes. */
  readonly estimate?: boolean
  /** Projects read at once. Default 16. */
  readonly concurrency?: number
}

/** From `plan` or `planFrom`. */
export interface Planned {
  /** Of every project that can be planned. */
  readonly plan: Plan
  /** Empty if every project could be planned; else `plan.leftOut` names those that could not. */
  readonly diagnostics: readonly Diagnostic[]
  /** The snapshot that it was planned from. */
  readonly observed: Observed
  /** With `base`: its changes by who caused them. */
  readonly origin?: Origin
  /** With `base`: each protection, prune and restart window that these manifests give up. */
  readonly policyRemovals?: readonly Diagnostic[]
}

/** Reads the live projects by id. One that cannot be read is in `missing` or `unreadable`. */
export const observe = async (
  client: ReadClient,
  projects: readonly string[],
  options: { readonly concurrency?: number } = {},
): Promise<Observed> => snapshot(clients.of(client), projects, options)

/** Reads the projects of the manifests and plans what would make them as declared. Changes nothing. */
export const plan = async (client: ReadClient, manifests: Manifests, options: PlanOptions = {}): Promise<Planned> =>
  published(await planLive(clients.of(client), usable(manifests), inside(options)))

/** The same against a snapshot that was taken before: no network. */
export const planFrom = (observed: Observed, manifests: Manifests, options: Pick<PlanOptions, 'base'> = {}): Planned =>
  published(planSnapshot(observed, usable(manifests), inside(options)))

/** The text of a plan file, for `espalier apply FILE`. */
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
    ...(comparison === undefined ? {} : comparison),
  }
  return plans.publish(made, planned)
}

/** A plan of manifests with errors would lack what could not be read. */
const usable = (manifests: Manifests) => {
  const wrong = manifests.diagnostics.find(({ severity }) => severity === 'error')
  if (wrong === undefined) return internals.of(manifests)
  throw new EspalierError(wrong.code, wrong.message, wrong.hint === undefined ? {} : { hint: wrong.hint })
}
