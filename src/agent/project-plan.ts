/** Plans a project from its snapshot, and decides how each difference is treated in this round. */
import { checkBudgets } from '../apply/index.ts'
import type { Change, Observed, Plan } from '../model/index.ts'
import { VERSION } from '../model/version.ts'
import type { Selected } from '../planner/index.ts'
import { type Manifests, planSnapshot } from '../workflow/index.ts'
import { afterRefresh, budgetsLeft, mayInterrupt } from './act/progress.ts'
import { decideRound, type Round } from './decide/round.ts'
import { missedWindow, waitingOf, windowedSteps } from './decide/window.ts'
import type { Decided } from './project-apply.ts'
import type { ProjectDisplay } from './project-display.ts'
import type { ProjectStore } from './project-store.ts'
import type { Shared } from './shared.ts'
import type { Declaration } from './source/desired-state.ts'
import { isSuspended } from './suspension.ts'

/** The ids of the changes to plan, whose chain has started. `undefined` stands for all changes. */
type Continuing = ReadonlySet<string> | undefined

export class ProjectPlan {
  readonly #id: string
  readonly #shared: Shared
  readonly #store: ProjectStore
  readonly #display: ProjectDisplay
  /** The last plan with all differences, including the differences on hold. */
  last: Plan | undefined

  constructor(id: string, shared: Shared, store: ProjectStore, display: ProjectDisplay) {
    this.#id = id
    this.#shared = shared
    this.#store = store
    this.#display = display
  }

  /** Returns `undefined` if planning failed. In that case, the view shows why. */
  async decide(
    declaration: Declaration,
    manifests: Manifests,
    observed: Observed,
    continuing?: Continuing,
  ): Promise<Decided | undefined> {
    const { now, desired } = this.#shared
    const { result } = planSnapshot(observed, manifests)
    const [project] = observed.projects
    this.last = result.plan
    if (!result.ok || project === undefined) {
      const first = result.ok ? undefined : result.diagnostics.find(({ severity }) => severity === 'error')
      await this.#display.show({ state: 'Blocked', reason: 'PlanError' }, declaration.version, {
        message: first?.message ?? 'The project could not be planned.',
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
    const roundOf = (suspended: boolean): Round =>
      this.#roundOf(declaration, manifests, observed, { whole: result.plan, suspended, continuing })
    const suspended = isSuspended(this.#store.file.suspension, now())
    const round = roundOf(suspended)
    if (continuing === undefined) await this.#watchWindow(suspended ? roundOf(false) : round, suspended)
    return { round, manifests, observed }
  }

  #roundOf(
    { history, waitsFor }: Declaration,
    manifests: Manifests,
    observed: Observed,
    { whole, suspended, continuing }: { whole: Plan; suspended: boolean; continuing: Continuing },
  ): Round {
    const { now, policy, budgets, isSettled } = this.#shared
    const { file } = this.#store
    const at = now()
    const mayPlan = (change: Change): boolean => continuing === undefined || continuing.has(change.id)
    const planOf = (choose: (change: Change) => Selected): Plan =>
      planSnapshot(observed, { ...manifests, selecting: { selection: {}, leftOutProjects: 0, choose } }).result.plan
    const all = continuing === undefined ? whole : planOf(mayPlan)
    return decideRound({
      plan: (select) => (select === undefined ? all : planOf((change) => mayPlan(change) && select(change))),
      memory: { ...file, record: file.record ?? { program: '', manifests: '', entries: {} } },
      situation: { policy, isSuspended: suspended, history },
      steps: {
        now: at,
        continuing: new Set(continuing === undefined ? [] : all.steps.map(({ id }) => id)),
        isWaveHeld: waitsFor().some((id) => !isSettled(id)),
        mayInterrupt: (step) => mayInterrupt(file, step, at),
      },
      isOverBudget: (plan) => plan.steps.length > 0 && checkBudgets(plan, budgetsLeft(budgets, file, at)).length > 0,
    })
  }

  /**
   * Records which window the steps are waiting for, and reports a window that was missed.
   *
   * @param round the round as it would be if the project were not suspended.
   */
  async #watchWindow(round: Round, suspended: boolean): Promise<void> {
    const { now, startedAt } = this.#shared
    const at = now()
    const steps = windowedSteps(round)
    const { wait: known } = this.#store.file
    const missed = missedWindow(known, steps.length > 0, {
      now: at,
      runningSince: startedAt,
      isSuspended: suspended,
    })
    const wait = waitingOf(steps, missed === undefined ? known : undefined, at)
    await this.#store.saveAs((file) => ({ ...file, wait, missed: missed ?? file.missed }))
    if (missed !== undefined) this.#display.missedWindow(missed)
  }
}
