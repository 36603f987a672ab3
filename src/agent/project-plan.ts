/** Plans a project from its snapshot, and decides how this round handles each difference. */
import type { Observed, Plan } from '../model/index.ts'
import { VERSION } from '../model/version.ts'
import { type Manifests, planSnapshot } from '../workflow/index.ts'
import type { Declaration } from './desired-state.ts'
import { afterRefresh } from './memory.ts'
import type { Decided } from './project-apply.ts'
import type { ProjectDisplay } from './project-display.ts'
import { roundOf } from './project-round.ts'
import type { ProjectStore } from './project-store.ts'
import type { Shared } from './shared.ts'
import { isSuspended } from './suspension.ts'
import { missedWindow, waitingOf, windowedSteps } from './waiting.ts'

export class ProjectPlan {
  readonly #id: string
  readonly #shared: Shared
  readonly #store: ProjectStore
  readonly #display: ProjectDisplay
  #last: Plan | undefined

  constructor(id: string, shared: Shared, store: ProjectStore, display: ProjectDisplay) {
    this.#id = id
    this.#shared = shared
    this.#store = store
    this.#display = display
  }

  /** The plan with all differences, including those on hold. */
  get last(): Plan | undefined {
    return this.#last
  }

  /**
   * `undefined` if planning failed; the view then shows why.
   *
   * @param continuing plans only these changes, which belong to a chain already started.
   */
  async decide(
    declaration: Declaration,
    manifests: Manifests,
    observed: Observed,
    continuing?: ReadonlySet<string>,
  ): Promise<Decided | undefined> {
    const { now, desired } = this.#shared
    const planned = planSnapshot(observed, manifests)
    const [project] = observed.projects
    this.#last = planned.result.plan
    if (!planned.result.ok || project === undefined) {
      const [first] = planned.result.ok ? [] : planned.result.diagnostics.filter(({ severity }) => severity === 'error')
      await this.#display.show({ state: 'Blocked', reason: 'PlanError' }, declaration.version, {
        message: first === undefined ? 'The project could not be planned.' : first.message,
        sync: 'Unknown',
      })
      return undefined
    }
    const seen = {
      desired: manifests.loaded.desired,
      project,
      program: VERSION,
      digest: declaration.digest,
      isNew: declaration.isNew,
      now: now(),
      fetchedAt: desired.fetchedAt(),
    }
    await this.#store.saveAs((file) => afterRefresh(file, seen))
    if (declaration.isNew) await desired.recorded(this.#id)
    const suspended = isSuspended(this.#store.file.suspension, now())
    const { plan } = planned.result
    const decided = {
      round: roundOf(declaration, manifests, observed, this.#store.file, this.#shared, {
        plan,
        isSuspended: suspended,
        continuing,
      }),
      manifests,
      observed,
    }
    if (continuing === undefined) await this.#watchWindow(declaration, decided, plan)
    return decided
  }

  /** Records what waits for a window, and reports a missed one. */
  async #watchWindow(declaration: Declaration, { round, manifests, observed }: Decided, plan: Plan): Promise<void> {
    const { now, startedAt } = this.#shared
    const at = now()
    const suspended = isSuspended(this.#store.file.suspension, at)
    const active = suspended
      ? roundOf(declaration, manifests, observed, this.#store.file, this.#shared, { plan, isSuspended: false })
      : round
    const steps = windowedSteps(active)
    const { wait: known } = this.#store.file
    const missed = missedWindow(known, steps.length > 0, { now: at, runningSince: startedAt, isSuspended: suspended })
    const wait = waitingOf(steps, missed === undefined ? known : undefined, at)
    await this.#store.saveAs(({ wait: _, ...file }) => ({
      ...file,
      ...(wait === undefined ? {} : { wait }),
      ...(missed === undefined ? {} : { missed }),
    }))
    if (missed === undefined) return
    this.#display.missedWindow(missed)
  }
}
