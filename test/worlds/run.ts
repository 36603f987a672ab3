/** One run: a plan is applied to a small world, disturbed as chosen, and checked after each request. */
import { createHash } from 'node:crypto'
import { applyPlan } from '../../src/apply/index.ts'
import { CONSENTS, exitCodeOf, type Outcome, type Plan } from '../../src/model/index.ts'
import { worldOf } from '../../src/sandbox/index.ts'
import { type Planned, planLive } from '../../src/workflow/index.ts'
import { manifestsOf } from '../reliability/stage.ts'
import { isOf, livesOf, settingsOf } from '../reliability/trial.ts'
import type { Answer, Direct, Sent } from './direct.ts'
import { type Disturbance, type Disturbed, disturbancesAt, kindOf, RESIZED, ROOT } from './disturbances.ts'
import type { Shape } from './shapes.ts'

/** Chooses one of `n` possibilities; 0: nothing is disturbed. `key` identifies everything that the rest depends on. */
export type Pick = (n: number, key: () => string) => number

/** Thrown by a {@link Pick} if the rest of the run is known. */
export class Known extends Error {}

const TIMEOUT_MS = 45_000
/** Longer than all operations take. */
const REST_MS = 120_000
const OPTIONS = { concurrency: 8, readsOperations: false }

type Ready = Planned & { readonly result: { readonly ok: true; readonly plan: Plan } }
type Live = ReturnType<typeof livesOf>[number]

/** Every run of a world begins with the same plan. */
const plans = new WeakMap<Shape, Ready>()

export class Run implements Disturbed {
  /** The violations. */
  readonly wrong: string[] = []
  /** Requests, statuses and disturbances. */
  readonly events: string[] = []
  readonly direct: Direct
  readonly #shape: Shape
  readonly #start: number
  readonly #primaries: ReadonlySet<string>
  #stop = new AbortController()
  #isKilled = false
  #known: Known | undefined
  #pick: Pick | undefined
  #plan: Plan | undefined
  /** Digest of all responses to the apply. */
  #answers = ''
  /** The writes of the current apply. */
  #ours: Sent[] = []
  readonly #kindsRead = new Set<string>()
  /** Computes and branches that another client has changed, and those that were read since then. */
  readonly #changed = new Set<string>()
  readonly #seen = new Set<string>()

  constructor(direct: Direct, shape: Shape) {
    this.direct = direct
    this.#shape = shape
    const { control, clock } = direct.sandbox
    control.clearFaults()
    direct.reset()
    this.#start = clock.now()
    control.load(worldOf(shape.live, this.#start))
    this.#primaries = this.#branchesWithPrimary()
  }

  kill(): void {
    this.#isKilled = true
  }

  stop(): void {
    this.#stop.abort()
  }

  /** @throws {Known} if `pick` does. */
  async go(pick: Pick): Promise<void> {
    const planned = plans.get(this.#shape) ?? (await this.#planned())
    if (planned === undefined) throw new Error('The world has no plan.')
    plans.set(this.#shape, planned)
    this.#pick = pick
    const outcome = await this.#apply(planned)
    this.#pick = undefined
    if (this.#known !== undefined) throw this.#known
    if (outcome !== undefined) await this.#checkOutcome(outcome)
    if (outcome === undefined || exitCodeOf(outcome) !== 0 || outcome.converged !== true) await this.#recover()
  }

  /** Without disturbances. `undefined` if there is no plan. */
  async #planned(): Promise<Ready | undefined> {
    const { api } = this.direct.connect((sent) => this.direct.send(sent))
    const planned = await this.direct.during(planLive(api, manifestsOf(this.#shape.declared), OPTIONS))
    return planned?.result.ok === true ? { ...planned, result: planned.result } : undefined
  }

  /** `undefined` if the process was killed. */
  async #apply({ result: { plan }, observed }: Ready): Promise<Outcome | undefined> {
    const { direct } = this
    const { control } = direct.sandbox
    const { api, clock } = direct.connect((sent) => this.#answer(sent))
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
      consent: { allow: new Set(CONSENTS) },
      operationTimeoutMs: TIMEOUT_MS,
      stop: this.#stop.signal,
      replan: async (pinAliases, read) =>
        (await planLive(api, manifestsOf(this.#shape.declared), { ...OPTIONS, pinAliases, read })).result,
    })
    const outcome = await direct.during(work, () => this.#isKilled || this.#known !== undefined)
    await api.close()
    control.clearFaults()
    for (const { method, path, body } of own) {
      const sent = { method, path, ...(body === undefined ? {} : { body }) }
      if (!plan.steps.some((step) => isOf(step, sent, plan, settings))) this.wrong.push(`${method} ${path} is no step`)
    }
    return outcome
  }

  async #answer(sent: Sent): Promise<Answer> {
    if (this.#isKilled || this.#known !== undefined) return 'nothing'
    const disturbance = this.#choose(sent)
    if (this.#known !== undefined) return 'nothing'
    if (disturbance !== undefined) await this.#disturb(disturbance)
    const isWrite = sent.method !== 'GET'
    this.events.push(`${sent.method} ${sent.path.slice(ROOT.length)} ${sent.body ?? ''}`)
    if (isWrite) this.#ours.push(sent)
    const before = this.#lives()
    const answer = await (disturbance?.answer ?? ((one) => this.direct.send(one)))(sent, this.direct.send)
    if (typeof answer === 'object') {
      this.#answers = digest(this.#answers + this.#relative(`${answer.status}${answer.text}`))
      this.events.push(`  → ${answer.status}`)
      if (!isWrite) this.#noteRead(sent)
    }
    if (isWrite) this.#checkWrite(sent, before)
    return answer
  }

  #choose(sent: Sent): Disturbance | undefined {
    if (this.#pick === undefined) return undefined
    const id = /\/endpoints\/([^/?]+)/.exec(sent.path)?.[1]
    const branch = this.#lives().find((one) => one.id === id)?.branchId ?? this.#plan?.steps[0]?.branch.id
    const kind = kindOf(sent)
    const isFirst = !this.#kindsRead.has(kind)
    const possible = disturbancesAt(sent, { branch, isDefault: branch === this.#defaultBranch(), isFirst })
    try {
      const chosen = this.#pick(possible.length + 1, () => this.#key(sent))
      this.#kindsRead.add(kind)
      return possible[chosen - 1]
    } catch (error) {
      if (!(error instanceof Known)) throw error
      this.#known = error
      return undefined
    }
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
  #checkWrite({ method, path, body }: Sent, before: readonly Live[]): void {
    const id = /\/endpoints\/([^/?]+)$/.exec(path)?.[1]
    const after = this.#lives()
    const [was, is] = [before, after].map((all) => all.find((one) => one.id === id))
    if (this.#pick !== undefined && was !== undefined) {
      const asked = JSON.parse(body ?? '{}').endpoint ?? {}
      if (
        this.#seen.has(was.id) &&
        was.min === RESIZED &&
        is?.min !== RESIZED &&
        asked.autoscaling_limit_min_cu !== undefined
      )
        this.wrong.push(`${id} was resized by another client, was read again, and was overwritten`)
      if (method === 'DELETE' && is === undefined && this.#seen.has(was.branchId))
        this.wrong.push(`${id} was deleted although its branch had changed and was read again`)
    }
    const primaries = after.filter(({ type }) => type === 'read_write').map(({ branchId }) => branchId)
    if (new Set(primaries).size < primaries.length) this.wrong.push('two primaries on one branch')
    for (const one of before) {
      const isGone = !after.some((other) => other.id === one.id)
      if (isGone && !(method === 'DELETE' && one.id === id)) this.wrong.push(`${one.id} is gone`)
    }
  }

  async #checkOutcome(outcome: Outcome): Promise<void> {
    const left = this.#branchesWithPrimary()
    for (const branch of this.#primaries) {
      const name = branch.replace('br-', '')
      const isDeclared = typeof this.#shape.declared.branches?.[name]?.primary === 'object'
      if (!isDeclared || left.has(branch) || this.#changed.size > 0) continue
      if (!outcome.notes.some((note) => note.includes(name)))
        this.wrong.push(`no note says that ${name} has no primary`)
    }
    if (exitCodeOf(outcome) !== 0) return
    const places = this.#lives().flatMap(({ type, branchId, name }) =>
      type === 'read_only' ? `${branchId}/${name}` : [],
    )
    if (new Set(places).size < places.length) this.wrong.push('a twin is not reported')
    if (outcome.converged === true) await this.#expectNothingLeft('after a success')
  }

  /** After the last disturbance, one more apply reaches the declared state. */
  async #recover(): Promise<void> {
    this.direct.skew(0)
    this.#stop = new AbortController()
    await this.direct.sandbox.clock.advance(REST_MS)
    const planned = await this.#planned()
    if (planned === undefined) {
      // A replaced compute has a new id, so its pin must be changed; and a renamed branch must be renamed in a manifest.
      if (this.#changed.size === 0 && !JSON.stringify(this.#shape.declared).includes('"id"')) this.wrong.push('no plan')
      return
    }
    const outcome = await this.#apply(planned)
    const { steps } = planned.result.plan
    const waits = steps.some(({ refused, windows }) => refused !== undefined || windows !== undefined)
    const isDone = outcome?.steps.every(({ status }) => status === 'done') === true && outcome.converged !== false
    if (!isDone && !waits) this.wrong.push(`a second apply did not converge: ${JSON.stringify(outcome)}`)
    if (isDone) await this.#expectNothingLeft('after a second apply')
  }

  async #expectNothingLeft(when: string): Promise<void> {
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

  /** The engine is deterministic in the responses that it got; the rest depends on the world. */
  #key({ method, path, body }: Sent): string {
    const { control, clock } = this.direct.sandbox
    const world = this.#relative(JSON.stringify(control.dump().changes))
    const own = [clock.now() - this.#start, this.direct.skewMs, this.#stop.signal.aborted, method, path, body]
    const watched = [...this.#kindsRead, '', ...this.#changed, '', ...this.#seen]
    return digest([...own, ...watched, this.#answers, world].join(' '))
  }

  /** Replaces times by times since the start of the run. */
  #relative(text: string): string {
    return text
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) => `${Date.parse(time) - this.#start}`)
      .replace(/\b\d{16}\b/g, (us) => `${Number(us) - this.#start * 1_000}`)
      .replace(/\b\d{13}\b/g, (ms) => `${Number(ms) - this.#start}`)
  }
}

const digest = (text: string): string => createHash('sha1').update(text).digest('base64')
