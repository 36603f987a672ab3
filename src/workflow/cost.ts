/** Estimates the cost of live projects, and finds lines in manifests whose change would save money. */
import { pastOperations, type ReadApi, snapshot } from '../api/index.ts'
import { type Clock, DEFAULT_CONCURRENCY, defined, groupBy, mapConcurrently } from '../base/index.ts'
import { type CostReport, costReport, type DeclaredPlace, type SavingKey } from '../cost/index.ts'
import {
  type DesiredCompute,
  type Observed,
  type ObservedProject,
  SCALE_TO_ZERO_DEFAULT_SECONDS,
  type Source,
  sourceText,
} from '../model/index.ts'
import { declaredComputes } from '../planner/index.ts'
import type { Manifests } from './manifests.ts'
import { declaredFor } from './review.ts'

/** @param manifests the manifests whose lines the advice refers to. */
export const costLive = async (
  api: ReadApi,
  projects: readonly string[],
  { clock, manifests }: { readonly clock?: Clock; readonly manifests?: Manifests } = {},
): Promise<{ readonly observed: Observed; readonly report: CostReport }> => {
  const seen = await snapshot(api, projects, { concurrency: DEFAULT_CONCURRENCY, clock })
  const read = await mapConcurrently(seen.projects, DEFAULT_CONCURRENCY, async (project) =>
    needsOperations(project) ? { ...project, ...(await pastOperations(api, project.id)) } : project,
  )
  const observed = { ...seen, projects: read }
  const report = costReport(observed, {
    priceOf: declaredFor(manifests?.loaded.desired ?? { documents: [] }, 'price'),
    ...defined({ placeOf: manifests && placesOf(observed, manifests) }),
  })
  return { observed, report }
}

/**
 * Whether the operations must be read. The service counts usage only by branch. The operations allow splitting it by
 * compute, and show how often a compute was suspended.
 */
const needsOperations = ({ computes }: ObservedProject): boolean =>
  new Set(computes.map(({ branchId }) => branchId)).size < computes.length ||
  computes.some(({ attributes: { scaleToZero = 0 } }) => scaleToZero > SCALE_TO_ZERO_DEFAULT_SECONDS)

const placesOf = (observed: Observed, { loaded }: Manifests) => {
  const byProject = new Map(observed.projects.map((one) => [one.id, declaredComputes(loaded.desired, one)]))
  const all = [...byProject.values()].flatMap((computes) => [...computes.values()])
  const sharing = new Map<string, number>()
  for (const key of ['size', 'scaleToZero'] as const) {
    for (const [place, computes] of groupBy(all, (declared) => placeKey(key, placeIn(declared, key).source))) {
      sharing.set(place, computes.length)
    }
  }
  return (project: string, compute: string, key: SavingKey): DeclaredPlace | undefined => {
    const declared = byProject.get(project)?.get(compute)
    if (declared === undefined) return undefined
    const place = placeIn(declared, key)
    return { ...place, others: (sharing.get(placeKey(key, place.source)) ?? 1) - 1 }
  }
}

const placeIn = ({ attributes, sources, source }: DesiredCompute, key: SavingKey): Omit<DeclaredPlace, 'others'> =>
  attributes[key] === undefined ? { source, isSet: false } : { source: sources[key] ?? source, isSet: true }

const placeKey = (key: SavingKey, source: Source): string => `${key} ${sourceText(source)}`
