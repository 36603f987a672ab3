/** Applies what a round has decided, and recovers applies that an earlier run of the agent did not complete. */
import { join, relative } from 'node:path'
import type { WriteApi } from '../api/index.ts'
import { type ApplyEvent, type Observed, type Outcome, type Plan, type Step, stepTitle } from '../model/index.ts'
import { apply, type Manifests } from '../workflow/index.ts'
import { afterApply, beforeApply, beforeStep, budgetsLeft, withApplied } from './act/progress.ts'
import { begunChanges, type Interrupted, movedBy, readJournal, waitForRunningOperations } from './act/recovery.ts'
import type { ProjectFile } from './data-folder.ts'
import type { Round } from './decide/round.ts'
import type { ProjectStore } from './project-store.ts'
import type { Shared } from './shared.ts'
import { isSuspended } from './suspension.ts'

export interface Decided {
  readonly round: Round
  readonly manifests: Manifests
  readonly observed: Observed
}

export class ProjectApply {
  readonly #id: string
  readonly #shared: Shared
  readonly #store: ProjectStore
  /** Aborted if the project is suspended while its steps are running. */
  #suspending = new AbortController()

  constructor(id: string, shared: Shared, store: ProjectStore) {
    this.#id = id
    this.#shared = shared
    this.#store = store
  }

  /** Stops the apply once the running step completes. */
  stop(): void {
    this.#suspending.abort()
  }

  /** Returns `undefined` if a check blocked the whole apply, or if the project has since been suspended. */
  async run(
    { manifests, observed, round }: Decided,
    version: string,
    api: WriteApi,
    ignoreWindows = false,
  ): Promise<Outcome | undefined> {
    const { clock, now, data, policy, budgets, operationTimeoutMs, onSignal } = this.#shared
    const left = budgetsLeft(budgets, this.#store.file, now())
    const journal = await data.newJournal(this.#id, version)
    this.#suspending = new AbortController()
    if (isSuspended(this.#store.file.suspension, now())) return undefined
    await this.#store.saveAs((file) =>
      beforeApply(file, round.plan, { journal: relative(data.path, journal), version }, now()),
    )
    const applied = await apply({
      manifests,
      planned: { manifests, observed, result: { ok: true, plan: round.plan } },
      open: async () => ({ api, close: async () => undefined }),
      clock,
      consent: { allow: policy.allow },
      budgets: left,
      ignoreWindows,
      concurrency: 1,
      operationTimeoutMs,
      journal,
      onSignal,
      signal: this.#suspending.signal,
      watch: () => ({ event: (event) => this.#onEvent(event), end: async () => undefined }),
    })
    if (applied.kind !== 'ended') return undefined
    const { plan, outcome } = applied
    const done = outcome.steps.filter(({ status }) => status === 'done').map(({ step }) => step)
    const view = applyView(plan, new Set(done), version, now())
    await this.#store.saveAs((file) => withApplied(afterApply(file, plan, outcome, now()), view))
    return outcome
  }

  /**
   * Waits for the operations of an apply that an earlier run did not complete.
   *
   * @returns that apply, or `undefined` if there is none.
   */
  async recover(api: WriteApi): Promise<Interrupted | undefined> {
    const { applying } = this.#store.file
    if (applying === undefined) return undefined
    const interrupted = await readJournal(join(this.#shared.data.path, applying.journal))
    await waitForRunningOperations(api, this.#id, this.#shared.clock)
    this.#store.change((file) =>
      interrupted === undefined
        ? { ...file, applying: undefined }
        : {
            ...file,
            moving: movedBy(interrupted),
            chain: [...(file.chain ?? []), ...begunChanges(interrupted)],
          },
    )
    return interrupted
  }

  /**
   * Records what an interrupted apply has done, so that it is reported.
   *
   * @param rest the changes that remain, if known. A change that was started and is not among them is done.
   */
  recovered({ plan, started, done }: Interrupted, rest: Plan | undefined): void {
    const { now } = this.#shared
    const left = rest && new Set(rest.changes.map(({ id }) => id))
    const isDone = ({ id, change }: Step): boolean => done.has(id) || (started.has(id) && left?.has(change) === false)
    const ids = new Set(plan.steps.filter(isDone).map(({ id }) => id))
    this.#store.change((file) => {
      const { applying } = file
      return withApplied({ ...file, applying: undefined }, applying && applyView(plan, ids, applying.version, now()))
    })
  }

  /** Renews the lease before each call, and writes the attempt to disk before each step. */
  async #onEvent(event: ApplyEvent): Promise<void> {
    try {
      if (event.type === 'call') await this.#shared.data.renew()
      if (event.type !== 'step-start') return
      const { step } = event
      await this.#store.saveAs((file) => beforeStep(file, step, this.#shared.now()))
    } catch (error) {
      this.#shared.lost(error)
      throw error
    }
  }
}

/** What was applied, or `undefined` if no step completed. */
const applyView = (plan: Plan, done: ReadonlySet<string>, version: string, now: number): ProjectFile['applied'] => {
  const steps = plan.steps.filter(({ id }) => done.has(id))
  if (steps.length === 0) return undefined
  const changes = new Map(plan.changes.map((change) => [change.id, change]))
  return {
    at: new Date(now).toISOString(),
    version,
    done: steps.map((step) => stepTitle(step, changes)),
    interruptions: steps.filter(({ impact }) => impact !== 'none').length,
  }
}
