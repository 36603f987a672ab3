/** Decides what a round does: plans the project, and records what the refresh has shown. */
import { optionalRead, pastOperations, type ReadApi } from '../../api/index.ts'
import { VERSION } from '../../base/version.ts'
import { handoversIn, type Observed } from '../../model/index.ts'
import { planSnapshot } from '../../workflow/index.ts'
import { afterRefresh, usedIn, withRemainingGap } from '../act/progress.ts'
import { chainRound, type Round, roundOf } from '../decide/round.ts'
import type { Stops } from '../decide/table.ts'
import { afterWindows } from '../decide/wakes.ts'
import type { Decided, ProjectMemory } from '../memory.ts'
import type { Basis } from '../source/desired-state.ts'
import { show } from './tell.ts'

/** Plans the project. Returns `undefined` if that failed. In that case, the view shows why. */
export const decide = async (
  memory: ProjectMemory,
  { declaration, manifests: declared }: Basis,
  read: Observed,
  api: ReadApi,
): Promise<Decided | undefined> => {
  const { now, desired, steadySince, policy, isSettled } = memory.host
  const review = {
    ...declared.review,
    used: usedIn(memory.file, now()),
  }
  const manifests = { ...declared, review }
  const { result } = planSnapshot(read, manifests)
  const observed = handoversIn(result.plan).length === 0 ? read : await withPastOperations(read, api)
  const [project] = observed.projects
  memory.plan = result.plan
  if (!result.ok || project === undefined) {
    const first = result.ok ? undefined : result.diagnostics.find(({ severity }) => severity === 'error')
    await show(memory, { state: 'Blocked', reason: 'PlanError' }, declaration.version, {
      message: first?.message ?? 'The project could not be planned.',
      sync: 'Unknown',
    })
    return undefined
  }
  const refresh = {
    desired: manifests.loaded.desired,
    project,
    program: VERSION,
    digest: declaration.digest,
    now: now(),
    fetchedAt: desired.fetchedAt(),
  }
  await memory.save((file) => withRemainingGap(afterRefresh(file, refresh), observed, now()))
  const stops = { ...memory.stops, history: declaration.history }
  const isStale = stops.history === 'stale'
  const roundIf = (these: Stops): Round =>
    roundOf({
      observed,
      manifests,
      whole: result.plan,
      file: memory.file,
      situation: { policy, ...these },
      isWaveHeld: declaration.waitsFor().some((id) => !isSettled(id)),
      now: now(),
    })
  const round = roundIf(stops)
  const { isSuspended, isInvalid } = stops
  const unheld =
    isSuspended || isInvalid || isStale
      ? roundIf({ isSuspended: false, isInvalid: false, history: isStale ? 'known' : stops.history })
      : round
  const { wait, missed } = afterWindows(unheld, memory.file.wait, {
    now: now(),
    runningSince: steadySince(),
    isSuspended,
    isUnusable: isInvalid || isStale,
  })
  await memory.save((file) => ({ ...file, wait, missed: missed ?? file.missed }))
  if (missed !== undefined) {
    memory.missed = missed
    memory.view = { ...memory.view, missedWindows: memory.view.missedWindows + 1 }
  }
  return { declaration, round, manifests, observed }
}

/** How long earlier operations took is only needed to tell whether a chain fits into its window. */
const withPastOperations = async (observed: Observed, api: ReadApi): Promise<Observed> => ({
  ...observed,
  projects: await Promise.all(
    observed.projects.map(async (project) => ({
      ...project,
      ...(await optionalRead(pastOperations(api, project.id))),
    })),
  ),
})

/**
 * Plans only the changes of a chain that has begun. Nothing is recorded, because the chain may have begun with an
 * earlier version of the manifests.
 */
export const decideChain = (
  { host: { policy, now } }: ProjectMemory,
  { declaration, manifests: { review: _, ...manifests } }: Basis,
  observed: Observed,
  changes: readonly string[],
): Decided | undefined => {
  const ids = new Set(changes)
  const choose = ({ id }: { readonly id: string }): boolean => ids.has(id)
  const { result } = planSnapshot(observed, {
    ...manifests,
    selecting: { selection: {}, leftOutProjects: 0, choose },
  })
  if (!result.ok) return undefined
  return { declaration, manifests, observed, round: chainRound(result.plan, policy, now()) }
}
