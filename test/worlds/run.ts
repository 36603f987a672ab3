/** One run: a plan is applied to a small world, disturbed as chosen, and checked after each request. */
import { applyPlan } from '../../src/apply/index.ts'
import { CONSENTS, type Consent, exitCodeOf, type Outcome, type Plan } from '../../src/model/index.ts'
import { type Planned, planLive } from '../../src/workflow/index.ts'
import { isCovered, isOf, livesOf, settingsOf } from '../reliability/trial.ts'
import type { Answer, Direct, Sent } from './direct.ts'
import { type Disturbance, type Disturbed, disturbancesAt, kindOf, RESIZED, ROOT } from './disturbances.ts'
import type { Memory } from './memory.ts'
import { manifestsFor, type Shape } from './shapes.ts'

/** Chooses one disturbance or none. `key` identifies everything that the rest depends on. If it is known, the run ends. */
export type Pick = (possible: () => readonly Disturbance[], key: () => string) => Disturbance | undefined | 'known'

const TIMEOUT_MS = 45_000
/** Longer than all operations take. */
const REST_MS = 120_000
const OPTIONS = { concurrency: 8, readsOperations: false }

type Ready = Planned & { readonly result: { readonly ok: true; readonly plan: Plan } }
type Live = ReturnType<typeof livesOf>[number]

/** What a write may change. */
interface Scene {
  readonly computes: readonly Live[]
  readonly operations: readonly { readonly id: string; readonly restarts?: boolean | undefined }[]
}

/** Every run of a world begins with the same plan. */
const plans = new WeakMap<Shape, Ready>()

export class Run implements Disturbed {
  /** The violations. */
  readonly wrong: string[] = []
  /** Requests, statuses and disturbances. */
  readonly events: string[] = []
  readonly direct: Direct
  /** Whether the rest of the run was known, so it was cut off. */
  isMerged = false
  readonly #shape: Shape
  readonly #memory: Memory
  /** At the beginning. */
  readonly #computes: ReadonlySet<string>
  readonly #primaries: ReadonlySet<string>
  #stop = new AbortController()
  #isKilled = false
  #pick: Pick | undefined
  #plan: Plan | undefined
  #sent = 0
  /** Identifies all responses to the apply. */
  #answers = 0
  /** The writes of the current apply. */
  #ours: Sent[] = []
  /** The operations that a request to change a compute has started. */
  readonly #started = new Map<string, string>()
  readonly #kindsRead = new Set<string>()
  /** Computes and branches that another client has changed, and those that were read since then. */
  readonly #changed = new Set<string>()
  readonly #seen = new Set<string>()

  constructor(direct: Direct, shape: Shape, memory: Memory) {
    this.direct = direct
    this.#shape = shape
    this.#memory = memory
    direct.load(shape.live, memory)
    this.#computes = new Set(this.#lives().map(({ id }) => id))
    this.#primaries = this.#branchesWithPrimary()
  }

  kill(): void {
    this.#isKilled = true
  }

  stop(): void {
    this.#stop.abort()
  }

  async go(pick: Pick): Promise<void> {
    const planned = plans.get(this.#shape) ?? (await this.#planned())
    if (planned === undefined) throw new Error('The world has no plan.')
    plans.set(this.#shape, planned)
    this.#pick = pick
    const outcome = await this.#apply(planned, this.#shape.allow)
    this.#pick = undefined
    if (this.isMerged) return
    if (outcome !== undefined) await this.#checkOutcome(outcome)
    if (outcome === undefined || exitCodeOf(outcome) !== 0 || outcome.converged !== true) await this.#recover()
  }

  /** Without disturbances. `undefined` if there is no plan. */
  async #planned(): Promise<Ready | undefined> {
    const { api } = this.direct.connect((sent) => this.direct.send(sent))
    const planned = await this.direct.during(planLive(api, manifestsFor(this.#shape), OPTIONS))
    return planned?.result.ok === true ? { ...planned, result: planned.result } : undefined
  }

  /** `undefined` if the process was killed. */
  async #apply({ result: { plan }, observed }: Ready, allow: readonly Consent[]): Promise<Outcome | undefined> {
    const { direct } = this
    const abort = new AbortController()
    const { api, clock } = direct.connect(async (sent) => {
      if (abort.signal.aborted) return 'nothing'
      return this.#answer(sent).catch((error: unknown) => {
        // To the client, a mistake in the test would look like a lost connection.
        this.wrong.push(String(error))
        throw error
      })
    })
    this.#plan = plan
    this.#isKilled = false
    const settings = settingsOf(direct.sandbox)
    const own: Sent[] = []
    this.#ours = own
    const work = applyPlan({
      plan,
      observed,
      api,
      clock,
      consent: { allow: new Set(allow) },
      operationTimeoutMs: TIMEOUT_MS,
      stop: this.#stop.signal,
      abort: abort.signal,
      replan: async (pinAliases, read) =>
        (await planLive(api, manifestsFor(this.#shape), { ...OPTIONS, pinAliases, read })).result,
    })
    const outcome = await direct.during(work, () => this.#isKilled || this.isMerged)
    // A killed process does nothing else. Its timers on the real clock end, too.
    abort.abort()
    await api.close()
    direct.clearFaults()
    for (const { method, path, body } of own) {
      const sent = { method, path, ...(body === undefined ? {} : { body }) }
      const agreed = plan.steps.filter((step) => isCovered(step, allow))
      if (!agreed.some((step) => isOf(step, sent, plan, settings)))
        this.wrong.push(`${method} ${path} belongs to no step with consent`)
    }
    return outcome
  }

  async #answer(sent: Sent): Promise<Answer> {
    if (this.#isKilled || this.isMerged) return 'nothing'
    const disturbance = this.#choose(sent)
    if (this.isMerged) return 'nothing'
    if (disturbance !== undefined) await this.#disturb(disturbance)
    const isWrite = sent.method !== 'GET'
    this.events.push(`${sent.method} ${sent.path.slice(ROOT.length)} ${sent.body ?? ''}`)
    if (isWrite) this.#ours.push(sent)
    const before = isWrite ? this.#scene() : undefined
    const answer = await (disturbance?.answer?.(sent, this.direct) ?? this.direct.send(sent))
    if (typeof answer === 'object') {
      const { status, text } = answer
      this.#answers = this.#memory.idOf(
        `${this.#answers} ${this.direct.now} ${this.direct.skewMs} ${sent.path} ${status} ${this.#memory.idOf(text)}`,
      )
      this.events.push(`  → ${answer.status}`)
      if (!isWrite) this.#noteRead(sent)
    }
    if (before !== undefined) this.#checkWrite(sent, before)
    return answer
  }

  #choose(sent: Sent): Disturbance | undefined {
    if (this.#pick === undefined) return undefined
    this.#sent += 1
    const chosen = this.#pick(
      () => this.#possible(sent),
      () => this.#key(sent),
    )
    this.isMerged = chosen === 'known'
    this.#kindsRead.add(kindOf(sent))
    return chosen === 'known' ? undefined : chosen
  }

  #possible(sent: Sent): readonly Disturbance[] {
    const id = /\/endpoints\/([^/?]+)/.exec(sent.path)?.[1]
    const branch = this.#lives().find((one) => one.id === id)?.branchId ?? this.#plan?.steps[0]?.branch.id
    const isFirst = !this.#kindsRead.has(kindOf(sent))
    return disturbancesAt(sent, { branch, isDefault: branch === this.#defaultBranch(), isFirst })
  }

  async #disturb({ name, before, rival }: Disturbance): Promise<void> {
    this.events.push(`* ${name}`)
    before?.(this)
    if (rival === undefined) return
    const { status } = await this.direct.send(rival)
    this.events.push(`  → ${status}`)
    const id = /\/(?:endpoints|branches)\/([^/]+)/.exec(rival.path)?.[1]
    if (status < 300) this.#changed.add(id ?? 'new')
  }

  #noteRead({ path }: Sent): void {
    const id = /\/(?:endpoints|branches)\/([^/?]+)/.exec(path)?.[1]
    const kind = /\/(endpoints|branches)(\?|$)/.exec(path)?.[1] === 'endpoints' ? 'ep-' : 'br-'
    for (const one of this.#changed) if (one === id || (id === undefined && one.startsWith(kind))) this.#seen.add(one)
  }

  /** After a write: what another client changed is not overwritten once it was read, and nothing else happens. */
  #checkWrite({ method, path, body }: Sent, { computes: before, operations: earlier }: Scene): void {
    const id = /\/endpoints\/([^/?]+)$/.exec(path)?.[1]
    const { computes: after, operations } = this.#scene()
    const [was, is] = [before, after].map((all) => all.find((one) => one.id === id))
    if (this.#pick !== undefined && was !== undefined) {
      const asked = JSON.parse(body ?? '{}').endpoint ?? {}
      const isSeen = this.#seen.has(was.id)
      if (isSeen && was.min === RESIZED && is?.min !== RESIZED && asked.autoscaling_limit_min_cu !== undefined)
        this.wrong.push(`${id} was resized by another client, was read again, and was overwritten`)
      if (method === 'DELETE' && is === undefined && this.#seen.has(was.branchId))
        this.wrong.push(`${id} was deleted although its branch had changed and was read again`)
      const started = operations.filter((one) => !earlier.some((other) => other.id === one.id))
      for (const one of started) this.#started.set(path, one.id)
      const isInterrupted = was.state === 'active' && (is === undefined || started.some(({ restarts }) => restarts))
      if (isInterrupted && (isSeen || !this.#changed.has(was.id))) this.#checkInterruption(method, path)
    }
    const primaries = after.filter(({ type }) => type === 'read_write').map(({ branchId }) => branchId)
    if (new Set(primaries).size < primaries.length) this.wrong.push('two primaries on one branch')
    for (const one of before) {
      const isGone = !after.some((other) => other.id === one.id)
      if (isGone && !(method === 'DELETE' && one.id === id)) this.wrong.push(`${one.id} is gone`)
    }
  }

  #checkInterruption(method: string, path: string): void {
    const step = this.#plan?.steps.find(({ request }) => request.method === method && request.path === path)
    if (step?.windows !== undefined) this.wrong.push(`${path} was interrupted outside its window`)
    if (this.#shape.allow.length === 0) this.wrong.push(`${path} was interrupted without consent`)
    if (step?.impact === 'none' && step.unlessIdle === undefined)
      this.wrong.push(`${path} was interrupted although the plan says that this cannot happen`)
  }

  async #checkOutcome(outcome: Outcome): Promise<void> {
    for (const { step: id, status, operations } of outcome.steps) {
      const path = this.#plan?.steps.find((step) => step.id === id)?.request.path ?? ''
      const started = this.#started.get(path)
      if (status === 'done' && started !== undefined && !operations.some((one) => one.id === started))
        this.wrong.push(`${path} is reported as done without its operation`)
    }
    const left = this.#branchesWithPrimary()
    for (const branch of this.#primaries) {
      const name = branch.replace('br-', '')
      const isDeclared = typeof this.#shape.declared.branches?.[name]?.primary === 'object'
      if (!isDeclared || left.has(branch) || this.#changed.size > 0) continue
      if (!outcome.notes.some((note) => note.includes(name)))
        this.wrong.push(`no note says that ${name} has no primary`)
    }
    if (exitCodeOf(outcome) !== 0) return
    const places = this.#lives().flatMap(({ id, type, branchId, name }) =>
      type === 'read_only' && !this.#computes.has(id) ? `${branchId}/${name}` : [],
    )
    if (new Set(places).size < places.length) this.wrong.push('a twin is not reported')
    if (outcome.converged === true) await this.#expectNothingLeft('after a success')
  }

  /** After the last disturbance, one more apply reaches the declared state. */
  async #recover(): Promise<void> {
    this.direct.skewMs = 0
    this.#stop = new AbortController()
    await this.direct.advance(REST_MS)
    if (!this.#memory.isNew(`recover ${this.#changed.size > 0} ${this.#state()}`)) {
      this.isMerged = true
      return
    }
    const planned = await this.#planned()
    if (planned === undefined) {
      // A replaced compute has a new id, so its pin must be changed; and a renamed branch must be renamed in a manifest.
      if (this.#changed.size === 0 && !JSON.stringify(this.#shape.declared).includes('"id"')) this.wrong.push('no plan')
      return
    }
    const outcome = await this.#apply(planned, CONSENTS)
    const { steps } = planned.result.plan
    const waits = steps.some(({ refused, windows }) => refused !== undefined || windows !== undefined)
    const isDone = outcome?.steps.every(({ status }) => status === 'done') === true && outcome.converged !== false
    if (!isDone && !waits) this.wrong.push(`a second apply did not converge: ${JSON.stringify(outcome)}`)
    if (isDone) await this.#expectNothingLeft('after a second apply')
  }

  async #expectNothingLeft(when: string): Promise<void> {
    if (!this.#memory.isNew(`nothing left ${this.#state()}`)) return
    const planned = await this.#planned()
    const left = planned?.result.plan.steps ?? []
    if (left.length > 0) this.wrong.push(`${when}, these steps are left: ${left.map(({ id }) => id).join(', ')}`)
  }

  #branchesWithPrimary(): ReadonlySet<string> {
    return new Set(this.#lives().flatMap(({ type, branchId }) => (type === 'read_write' ? branchId : [])))
  }

  #defaultBranch(): string | undefined {
    for (const change of this.direct.sandbox.control.dump().changes) {
      if ('put' in change && change.put.kind === 'branch' && change.put.isDefault) return change.put.id
    }
    return undefined
  }

  #lives(): readonly Live[] {
    return livesOf(this.direct.sandbox)
  }

  #scene(): Scene {
    const { changes } = this.direct.sandbox.control.dump()
    const operations = changes.flatMap((change) =>
      'put' in change && change.put.kind === 'operation' ? [change.put] : [],
    )
    return { computes: this.#lives(), operations }
  }

  /** The engine is deterministic in the responses that it got and in their times; the rest depends on the world. */
  #key({ method, path, body }: Sent): string {
    const { history, skewMs } = this.direct
    const watched = [this.#sent, ...this.#kindsRead, '', ...this.#changed, '', ...this.#seen]
    return [history, skewMs, this.#stop.signal.aborted, method, path, body, ...watched, this.#answers].join(' ')
  }

  /** The state of the world, without times and with ids replaced: nothing depends on these once all operations ended. */
  #state(): string {
    const names = new Map<string, number>()
    return JSON.stringify(this.direct.sandbox.control.dump().changes, (_, value) =>
      typeof value === 'number' && value > LEAST_TIME ? undefined : value,
    ).replace(MADE_ID, (id) => {
      const name = names.get(id) ?? names.size
      names.set(id, name)
      return `id-${name}`
    })
  }
}

const LEAST_TIME = 1e11
/** An id of an operation or of a compute that was created during the run. */
const MADE_ID = /\b[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\b|\bep-[a-z]+-[a-z]+-a[\da-f]{7}\b/g
