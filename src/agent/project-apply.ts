/** Applies what a round of a project decided, and completes what an earlier run of the agent left in the middle. */
import type { WriteApi } from '../api/index.ts'
import { type ApplyEvent, type Observed, type Outcome, type Plan, stepTitle } from '../model/index.ts'
import { apply, type Manifests } from '../workflow/index.ts'
import { afterApply, beforeApply, beforeStep, budgetsLeft } from './memory.ts'
import type { ProjectStore } from './project-store.ts'
import { begunChanges, movedBy, readJournal, waitForOpen } from './recovery.ts'
import type { Round } from './round.ts'
import type { Shared } from './shared.ts'
import { isSuspended } from './suspension.ts'
import type { ApplyView } from './view.ts'

export interface Decided {
  readonly round: Round
  readonly manifests: Manifests
  readonly observed: Observed
}

export interface Applied {
  readonly outcome: Outcome
  /** Absent if no step was done. */
  readonly view?: ApplyView
}

export class ProjectApply {
  readonly #id: string
  readonly #shared: Shared
  readonly #store: ProjectStore
  /** Aborted when the project is suspended while steps run. */
  #suspending = new AbortController()

  constructor(id: string, shared: Shared, store: ProjectStore) {
    this.#id = id
    this.#shared = shared
    this.#store = store
  }

  /** The step under way completes. */
  stop(): void {
    this.#suspending.abort()
  }

  /** `undefined` if a gate of the apply stopped all of it, or the project was suspended in the meantime. */
  async run(
    { manifests, observed, round }: Decided,
    version: string,
    api: WriteApi,
    ignoreWindows = false,
  ): Promise<Applied | undefined> {
    const { clock, now, policy, budgets, operationTimeoutMs, onSignal } = this.#shared
    const left = budgetsLeft(budgets, this.#store.file, now())
    const journal = await this.#shared.journalFor(this.#id, version)
    this.#suspending = new AbortController()
    if (isSuspended(this.#store.file.suspension, now())) return undefined
    await this.#store.saveAs((file) => beforeApply(file, round.plan, journal, now()))
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
    await this.#store.saveAs((file) => afterApply(file, plan, outcome, now()))
    const view = applyView(plan, outcome, version, now())
    return { outcome, ...(view === undefined ? {} : { view }) }
  }

  /** @returns the changes of a chain that an earlier run of the agent began and did not end. */
  async recover(api: WriteApi): Promise<ReadonlySet<string>> {
    const { applying: journal } = this.#store.file
    if (journal === undefined) return new Set()
    const interrupted = await readJournal(journal)
    await waitForOpen(api, this.#id, this.#shared)
    if (interrupted !== undefined) this.#store.change((file) => ({ ...file, moving: movedBy(interrupted) }))
    return interrupted === undefined || interrupted.hasEnded ? new Set() : begunChanges(interrupted)
  }

  /** Before each call: the lease still holds, and the attempt is on disk. */
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

/** `undefined` if no step was done. */
const applyView = (plan: Plan, outcome: Outcome, version: string, now: number): ApplyView | undefined => {
  const done = new Set(outcome.steps.filter(({ status }) => status === 'done').map(({ step }) => step))
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
