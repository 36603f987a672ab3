/** Applies what a round has decided. */
import { relative } from 'node:path'
import type { WriteApi } from '../../api/index.ts'
import type { OnSignal } from '../../base/index.ts'
import { type ApplyEvent, type Plan, planUseOf } from '../../model/index.ts'
import { apply } from '../../workflow/index.ts'
import { afterApply, applied, beforeStep, withApplied, withGap } from '../act/progress.ts'
import { closesGap, openedGap } from '../act/recovery.ts'
import type { Held } from '../act/restart-limit.ts'
import { isSuspended } from '../control.ts'
import { mayRetry } from '../decide/retries.ts'
import type { Decided, ProjectMemory } from '../memory.ts'
import type { Basis } from '../source/desired-state.ts'
import { decideChain } from './decide.ts'

/** An apply may unblock further steps. Steps that remain after this many applies wait for the next wake. */
const MAX_APPLIES = 3

const canRun = ({ round: { steps } }: Decided): boolean => [...steps.values()].some(({ action }) => action === 'run')

export const mayRun = ({ host, file }: ProjectMemory, decided: Decided, applies: number): boolean =>
  !host.isStopping() && !host.data.isFull() && applies < MAX_APPLIES && mayRetry(file, host.now()) && canRun(decided)

/** Reserves the restarts of a round. @returns `undefined` if they are reserved. */
export const heldUntil = (
  { id, host, file }: ProjectMemory,
  { round: { plan, steps }, declaration }: Decided,
): Held | undefined => {
  const running = new Set(plan.steps.flatMap((step) => (steps.get(step.id)?.action === 'run' ? [step.change] : [])))
  const changes = plan.changes.filter((change) => running.has(change.id))
  const restarts = changes.reduce((sum, change) => sum + (planUseOf({ change, cost: undefined }).maxRestarts ?? 0), 0)
  const wish = { restarts, wave: declaration.waitsFor().length, isAccepted: file.overLimit === declaration.digest }
  const { isFree, freesAt } = host.restarts.take(id, wish, host.now())
  return isFree ? undefined : { freesAt }
}

/** @returns whether the apply was cut short: by a check that blocked it, by a suspension, or by the end of the agent. */
export const act = async (
  memory: ProjectMemory,
  { declaration, manifests, observed, round }: Decided,
  api: WriteApi,
  isChain = false,
): Promise<boolean> => {
  const { clock, now, data, policy, operationTimeoutMs, onSignal, isAborting } = memory.host
  const { version } = declaration
  const journal = await data.newJournal(memory.id, version)
  memory.suspending = new AbortController()
  if (!isChain && isSuspended(memory.file.suspension, now())) return true
  const applying = { journal: relative(data.path, journal), version }
  await memory.save((file) => ({ ...file, applying }))
  memory.running = { plan: round.plan, started: new Set(), done: new Set() }
  // A chain is stopped only by the second signal, which then counts as both.
  const onlySecond: OnSignal = (signal, handle) =>
    onSignal(signal, () => {
      if (isAborting()) for (const _ of [1, 2]) handle()
    })
  const result = await apply({
    manifests,
    planned: { manifests, observed, result: { ok: true, plan: round.plan } },
    open: async () => ({ api, close: async () => undefined }),
    clock,
    consent: { allow: policy.allow },
    ignoreWindows: isChain,
    concurrency: 1,
    operationTimeoutMs,
    journal,
    onSignal: isChain ? onlySecond : onSignal,
    signal: isChain ? undefined : memory.suspending.signal,
    watch: () => ({ event: (event) => onEvent(memory, event, round.plan), end: async () => undefined }),
  }).finally(() => {
    memory.running = undefined
  })
  if (result.kind !== 'ended') return true
  const { plan, outcome } = result
  memory.observations = [...memory.observations, ...outcome.steps.flatMap(({ observation }) => observation ?? [])]
  const done = new Set(outcome.steps.filter(({ status }) => status === 'done').map(({ step }) => step))
  const failed = outcome.steps.filter(({ status }) => status === 'failed').map(({ step }) => step)
  const started = new Set([...done, ...failed])
  const gap = openedGap({ plan, started, done })
  // That a branch has no primary is part of the state, and the agent gives it one by itself.
  if (gap === undefined) for (const note of outcome.notes) memory.host.log(`${memory.id}  note: ${note}`)
  await memory.save((file) => {
    const after = withApplied(afterApply(file, plan, outcome, version, now()), applied(plan, done, version, now()))
    return after.chain === undefined || gap !== undefined ? withGap(after, gap, now()) : after
  })
  return outcome.interrupted
}

/** Renews the lease before each call, and writes the attempt to disk before each step. */
const onEvent = async (memory: ProjectMemory, event: ApplyEvent, plan: Plan): Promise<void> => {
  const { data, now, lost } = memory.host
  if (event.type === 'step-start') memory.running?.started.add(event.step.id)
  if (event.type === 'step-end' && event.outcome.status === 'done') memory.running?.done.add(event.outcome.step)
  try {
    if (event.type === 'call') await data.renew()
    if (event.type === 'step-start') await memory.save((file) => beforeStep(file, event.step, plan, now()))
  } catch (error) {
    lost(error)
    throw error
  }
}

/**
 * Completes a chain that has left a branch without its primary, even outside its window. The current manifests may no
 * longer say how, in which case the manifests that it last ran with are used.
 *
 * @param current `undefined` if the project is no longer declared.
 */
export const finishChain = async (memory: ProjectMemory, current: Basis | undefined, api: WriteApi): Promise<void> => {
  const { host, file, live } = memory
  const { chain, gap } = file
  const { observed } = live
  if (chain === undefined || gap === undefined || observed === undefined) return
  const begun = await host.desired.earlier(memory.id, chain.version)
  const bases = [current?.declaration.history === 'rewritten' ? undefined : current, begun]
  const decided = bases
    .flatMap((basis) => (basis && decideChain(memory, basis, observed, chain.changes)) ?? [])
    .find(({ round }) => closesGap(round.whole.steps, gap))
  if (decided === undefined) return
  await memory.save((known) => ({ ...known, gap: { ...gap, steps: decided.round.whole.steps.length } }))
  if (!host.isAborting() && mayRetry(file, host.now()) && canRun(decided)) await act(memory, decided, api, true)
}
