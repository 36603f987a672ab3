/** One project of the agent. A round reads the project, decides, applies what may run, and reports the result. */
import { ApiError } from '../api/index.ts'
import { EspalierError } from '../base/index.ts'
import type { ProjectView } from '../model/index.ts'
import { afterRecovery, withRemainingGap } from './act/progress.ts'
import { type Gap, type Interrupted, openedGap, waitForRunningOperations } from './act/recovery.ts'
import type { Held } from './act/restart-limit.ts'
import type { RoundView, ShownDifference, Suspension } from './control.ts'
import type { ProjectFile } from './data-folder.ts'
import { adopted } from './decide/origin.ts'
import { stopOf } from './decide/table.ts'
import type { WakeCause } from './decide/wakes.ts'
import { type Decided, type ProjectHost, ProjectMemory } from './memory.ts'
import { act, finishChain, heldUntil, mayRun } from './round/act.ts'
import { decide } from './round/decide.ts'
import { readInterrupted, type Unusable, type Usable, usableOf } from './round/read.ts'
import { conclude, show, tellNotRead, tellRead, wakeNextInterval } from './round/tell.ts'
import type { Declaration } from './source/desired-state.ts'
import { isSameAs } from './tell/view.ts'

export class AgentProject {
  readonly id: string
  readonly #host: ProjectHost
  readonly memory: ProjectMemory

  constructor(id: string, host: ProjectHost, file?: ProjectFile) {
    this.id = id
    this.#host = host
    this.memory = new ProjectMemory(id, host, file)
  }

  get view(): ProjectView {
    return this.memory.view
  }

  /** The view at this time. @param interval the refresh interval of the account, in milliseconds. */
  viewAt(now: number, interval: number): ProjectView {
    const { view, unread, live, concluded, file } = this.memory
    const { version = '', digest } = this.#host.desired.of(this.id) ?? {}
    const readAt = live.readAt && Math.max(live.readAt, this.#host.steadySince())
    const isPlanned = (concluded ?? file.record?.manifests ?? digest) === digest || view.version === version
    return {
      ...view,
      isFresh: unread === undefined && readAt !== undefined && now - readAt < 2 * interval,
      unreadAt: unread && new Date(unread.at).toISOString(),
      pending: isPlanned || version === '' ? undefined : version,
    }
  }

  /** The branches that the agent has left without their primary. */
  get gap(): Gap | undefined {
    const { running, file } = this.memory
    return (running && openedGap(running)) ?? file.gap
  }

  /** Whether an apply is running or was cut short, or has left a branch without its primary. */
  get isUnfinished(): boolean {
    return this.memory.file.applying !== undefined || this.gap !== undefined
  }

  /** Whether an earlier run of the agent left something to do. If so, the first round starts without a delay. */
  get isPending(): boolean {
    const { chain, failures, wait, status, record } = this.memory.file
    const isBlocked = status?.state === 'Blocked' || status?.state === 'Failing'
    const hasCommit = record !== undefined && record.manifests !== this.#host.desired.of(this.id)?.digest
    return this.isUnfinished || chain !== undefined || failures > 0 || wait !== undefined || isBlocked || hasCommit
  }

  /** Whether the project is reconciled with its declaration as far as possible, so that a later wave may start. */
  get isSettled(): boolean {
    const { view, concluded, isUnsettled } = this.memory
    const isCurrent = concluded !== undefined && concluded === this.#host.desired.of(this.id)?.digest
    return isCurrent && (view.state === 'Synced' || view.state === 'OutOfSync') && !isUnsettled
  }

  /** Shows an unexpected error as the state of this project, so that the agent can go on. */
  async showError(error: unknown): Promise<void> {
    const declaration = this.#host.desired.of(this.id)
    if (declaration === undefined) return
    await this.#host.data.noteError(error)
    const message = error instanceof EspalierError ? error.message : `A bug in Espalier: ${String(error)}`
    await show(this.memory, { state: 'Failing' }, declaration.version, { message })
  }

  suspend(suspension: Suspension): Promise<void> {
    this.memory.suspending.abort()
    this.#host.wake(this.id, suspension.until, 'interval')
    return this.memory.save((file) => ({ ...file, suspension }), true)
  }

  resume(): Promise<void> {
    return this.memory.save((file) => ({ ...file, suspension: undefined }), true)
  }

  /** @throws {EspalierError} `E_USAGE` if the commit or the differences are no longer those that were shown. */
  adopt(commit: string, shown: readonly ShownDifference[]): Promise<void> {
    const { version = '', digest, problem = '' } = this.#host.desired.of(this.id) ?? {}
    const { file, view, shownRecord: before } = this.memory
    const isCurrent = commit.length >= 7 && version.startsWith(commit) && problem === ''
    const isPlanned = before?.manifests === digest && file.record?.manifests === digest
    if (before === undefined || !isCurrent || !isPlanned || !isSameAs(shown, view.differences))
      throw new EspalierError(
        'E_USAGE',
        `The commit or the differences of ${this.id} have changed since they were shown.`,
        {
          hint: 'Look at them again before you adopt them.',
        },
      )
    return this.memory.save((file) => ({ ...file, record: file.record && adopted(file.record, before) }), true)
  }

  /**
   * Clears the project's back-off, rejections and conflicts.
   *
   * @param isAccepted whether the restarts that the commit causes, and that wait, may exceed the limit of all projects.
   */
  clearFailures(isAccepted: boolean): Promise<void> {
    const isOver = isAccepted && this.view.differences.some(({ reason }) => reason === 'RestartLimit')
    const { digest } = this.#host.desired.of(this.id) ?? {}
    if (isOver) this.#host.log(`${this.id}  may exceed --max-restarts once`)
    return this.memory.save(
      ({ overLimit, ...file }) => ({
        ...file,
        overLimit: isOver ? digest : overLimit,
        retryAt: undefined,
        refusals: [],
        reverts: [],
        failures: 0,
      }),
      true,
    )
  }

  async round(cause: WakeCause, dueAt: number): Promise<RoundView> {
    const memory = this.memory
    const { now, desired, accounts } = this.#host
    const began = now()
    memory.observations = []
    const ended = (result: RoundView['result']): RoundView => ({
      project: this.id,
      result,
      durationMs: now() - began,
      delayMs: Math.max(0, began - dueAt),
      observations: memory.observations,
    })
    const declaration = desired.of(this.id)
    if (declaration === undefined && !this.isUnfinished) return ended('unchanged')
    const interrupted = await readInterrupted(memory)
    const usable = declaration && usableOf(this.id, declaration, accounts.of(this.id))
    memory.invalid = usable === undefined || 'manifests' in usable ? undefined : usable.invalid
    try {
      let isChanged = false
      if (declaration === undefined || usable === undefined) await this.#finishUndeclared(interrupted)
      else if ('manifests' in usable) isChanged = await this.#reconcile(cause, declaration, usable, interrupted)
      else await this.#compare(cause, declaration, usable)
      tellRead(memory)
      return ended(isChanged ? 'changed' : 'unchanged')
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      await tellNotRead(memory, error, began)
      return ended('failed')
    }
  }

  /** Compares a project whose manifests cannot be used with the last ones that could. Nothing is applied. */
  async #compare(cause: WakeCause, { version }: Declaration, { key }: Unusable): Promise<void> {
    const memory = this.memory
    await show(memory, { state: 'Unknown' }, version, {})
    if (key !== undefined && stopOf(memory.stops) !== undefined) {
      const observed = await memory.live.refresh(key.api, cause !== 'interval')
      const valid = await this.#host.desired.lastValid(this.id, key)
      const decided = valid && (await decide(memory, valid, observed, key.api))
      if (decided !== undefined) return conclude(memory, decided, key.api)
      await show(memory, { state: 'Unknown' }, version, {})
    }
    wakeNextInterval(memory)
  }

  /** Gives the branches of a project their primaries back, although it is no longer declared. Changes nothing else. */
  async #finishUndeclared(interrupted: Interrupted | undefined): Promise<void> {
    const { memory } = this
    const { accounts, clock, now, wake } = this.#host
    const key = accounts.of(this.id)
    if (interrupted !== undefined) memory.change((file) => afterRecovery(file, interrupted, undefined, now()))
    if (key !== undefined) {
      if (interrupted !== undefined) await waitForRunningOperations(key.api, this.id, clock)
      const read = async (): Promise<void> => {
        const observed = await memory.live.refresh(key.api, true)
        await memory.save((file) => withRemainingGap(file, observed, now()))
      }
      await read()
      await finishChain(memory, undefined, key.api)
      await read()
    }
    const { gap, failure, retryAt } = memory.file
    const state = gap === undefined ? 'Unknown' : failure === undefined ? 'Blocked' : 'Failing'
    await show(memory, { state }, memory.view.version ?? '', {
      message: ['The project is no longer declared.', failure].filter(Boolean).join(' '),
      command: `espalier agent reconcile ${this.id}`,
      differences: [],
    })
    if (retryAt === undefined) wakeNextInterval(memory)
    else wake(this.id, retryAt, 'backoff')
  }

  /** @returns whether something was applied. */
  async #reconcile(
    cause: WakeCause,
    declaration: Declaration,
    { manifests, key }: Usable,
    interrupted: Interrupted | undefined,
  ): Promise<boolean> {
    const memory = this.memory
    const isForced = cause !== 'interval' && cause !== 'backoff'
    if (isForced || memory.file.record?.manifests !== declaration.digest)
      memory.change((file) => ({ ...file, retryAt: undefined, failures: 0 }))
    const current = { declaration, manifests }
    const isFull = interrupted !== undefined || memory.file.chain !== undefined || cause !== 'interval'
    const readAndDecide = async (isFull: boolean): Promise<Decided | undefined> =>
      decide(memory, current, await memory.live.refresh(key.api, isFull), key.api)
    if (interrupted !== undefined) await waitForRunningOperations(key.api, this.id, this.#host.clock)
    let decided = await readAndDecide(isFull)
    if (interrupted !== undefined) {
      const rest = decided && memory.plan
      memory.change((file) => afterRecovery(file, interrupted, rest, this.#host.now()))
    }
    if (memory.file.chain !== undefined) {
      await finishChain(memory, current, key.api)
      decided = await readAndDecide(true)
    }
    let applies = 0
    let held: Held | undefined
    while (decided !== undefined && mayRun(memory, decided, applies)) {
      if (!memory.live.isFull) {
        decided = await readAndDecide(true)
        continue
      }
      held = heldUntil(memory, decided)
      if (held !== undefined) break
      await show(memory, { state: 'Progressing' }, declaration.version, {})
      const isInterrupted = await act(memory, decided, key.api).finally(() => {
        const next = this.#host.restarts.settle(this.id)
        if (next !== undefined) this.#host.wake(next, this.#host.now(), 'commit')
      })
      applies += 1
      decided = await readAndDecide(true)
      if (isInterrupted) break
    }
    if (decided === undefined) wakeNextInterval(memory)
    else await conclude(memory, decided, key.api, held)
    return applies > 0
  }
}
