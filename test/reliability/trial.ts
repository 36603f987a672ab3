/** One run of the model-based test: a live project, a manifest, and applies with injected faults. */
import { isDeepStrictEqual } from 'node:util'
import { type ApplyOptions, applyPlan, type ReadCompute } from '../../src/apply/index.ts'
import {
  CONSENTS,
  type Consent,
  type Diagnostic,
  mergeSettings,
  type Observed,
  type Outcome,
  type Plan,
  type PlanResult,
  type Step,
  type StepOutcome,
} from '../../src/model/index.ts'
import { type FaultOrder, type Sandbox, worldOf } from '../../src/sandbox/index.ts'
import { planLive } from '../../src/workflow/index.ts'
import type { Declared, DeclaredDocument, DeclaredShape } from '../planner/world.ts'
import { manifestsOf, type Stage } from './stage.ts'

/** Interrupts at the n-th event: `stop` with one Ctrl-C, `abort` with a second one immediately after. */
export interface Interruption {
  readonly at: number
  readonly how: 'stop' | 'abort'
}

export interface Application {
  readonly faults: readonly FaultOrder[]
  readonly interruption: Interruption | undefined
  readonly allow: readonly Consent[]
}

const isRival = (fault: FaultOrder): boolean => fault.on === 'request' && fault.effect.kind.startsWith('rival-')

/** Longer than slow operations take; operations that hang exceed it. */
const TIMEOUT_MS = 45_000

const ENDED: ReadonlySet<string> = new Set(['finished', 'skipped', 'cancelled', 'error'])

/** Marks computes that another client creates. No manifest declares this value. */
export const RIVALS_SUSPEND_TIMEOUT = 777

/** Violations are collected until the end, because an exception on the server's side would be lost. */
export class Trial {
  readonly wrong: string[] = []
  /** Successful steps in all applies. */
  done = 0
  /** Applies that were disturbed by another client. */
  rivals = 0
  readonly #stage: Stage
  #manifest: DeclaredDocument
  /** Whether the current manifest could be planned before. */
  #wasPlanned = false
  /** Compute ids when the manifest was declared. */
  #before: ReadonlySet<string>
  #seen: ReadonlySet<string>
  #hasRival = false
  /** Compute ids that another client created. */
  readonly #rivals = new Set<string>()
  /** Whether reads may be out of date. */
  #lags = false
  /** The computes in the plan's snapshot, and after the last request. */
  #planned: ReadonlyMap<string, string> = new Map()
  #last: ReadonlyMap<string, Live> = new Map()
  #settings: ReadonlyMap<string, Live['settings']> = new Map()

  constructor(stage: Stage, live: Observed, manifest: DeclaredDocument) {
    this.#stage = stage
    this.#manifest = manifest
    this.#before = new Set(live.projects.flatMap(({ computes }) => computes.map(({ id }) => id)))
    this.#seen = this.#before
    const { control } = stage.sandbox
    control.clearFaults()
    control.load(worldOf(live, stage.sandbox.clock.now()))
    control.clearRequests()
  }

  declare(manifest: DeclaredDocument): void {
    this.#manifest = manifest
    this.#wasPlanned = false
    this.#before = new Set(livesOf(this.#stage.sandbox).map(({ id }) => id))
  }

  pass(ms: number): Promise<void> {
    return this.#stage.sandbox.clock.advance(ms)
  }

  /** Plans and applies like the command. */
  async apply({ faults, interruption, allow }: Application): Promise<{ result: PlanResult; outcome?: Outcome }> {
    const { sandbox, clock, during, connect, busy } = this.#stage
    const api = connect({ lockTimeoutMs: TIMEOUT_MS })
    const manifests = manifestsOf(this.#manifest)
    const replan = (pinAliases: Readonly<Record<string, string>> = {}, read: readonly ReadCompute[] = []) =>
      planLive(api, manifests, { concurrency: 8, readsOperations: false, pinAliases, read })
    const [stop, abort] = [new AbortController(), new AbortController()]
    let events = 0
    try {
      const { result, observed } = await during(replan())
      if (!result.ok) return { result }
      this.#wasPlanned = true
      for (const fault of faults) sandbox.control.addFault(fault)
      this.#hasRival = faults.some(isRival)
      this.#lags = faults.some((fault) => fault.effect.kind === 'lag')
      this.#planned = new Map(
        observed.projects.flatMap(({ computes }) =>
          computes.map(({ id, attributes: { size } }): [string, string] => [id, `${size?.min}-${size?.max}`]),
        ),
      )
      this.#settings = settingsOf(sandbox)
      if (this.#hasRival) this.rivals += 1
      sandbox.control.clearRequests()
      const options: ApplyOptions = {
        plan: result.plan,
        observed,
        api,
        clock,
        consent: { allow: new Set(allow) },
        operationTimeoutMs: TIMEOUT_MS,
        stop: stop.signal,
        abort: abort.signal,
        onEvent: async (event) => {
          busy()
          events += 1
          if (event.type === 'step-end') this.#checkEnd(result.plan, event.outcome)
          if (events !== interruption?.at) return
          stop.abort()
          if (interruption.how === 'abort') abort.abort()
        },
        replan: async (aliases, read) => (await replan(aliases, read)).result,
      }
      const outcome = await during(applyPlan(options))
      this.#repin(result.plan, outcome)
      this.#check(result.plan, allow)
      this.done += outcome.steps.filter(({ status }) => status === 'done').length
      return { result, outcome }
    } finally {
      sandbox.control.clearFaults()
      this.#hasRival = false
      await api.close()
    }
  }

  /** Without faults, and with hung operations resumed, the project must reach the declared state. */
  async recover(): Promise<void> {
    const { control } = this.#stage.sandbox
    control.load(control.dump())
    await this.pass(120_000)
    let { result, outcome } = await this.#applyFreely()
    if (!result.ok && this.#dropDeadPins(result.diagnostics)) ({ result, outcome } = await this.#applyFreely())
    if (!result.ok) {
      if (this.#wasPlanned && this.rivals === 0)
        this.wrong.push(`no plan afterwards: ${result.diagnostics.map(({ code }) => code)}`)
      return
    }
    const isRefused = result.plan.steps.some(({ refused }) => refused !== undefined)
    if (isRefused) return
    if (outcome?.converged === false || outcome?.steps.some(({ status }) => status !== 'done')) {
      this.wrong.push(`a second apply did not converge: ${JSON.stringify(outcome, null, 1)}`)
      return
    }
    const again = await this.#applyFreely()
    const left = again.result.ok ? again.result.plan.steps.map(({ id }) => id) : ['no plan']
    if (left.length > 0) this.wrong.push(`the plan afterwards is not empty: ${left.join(', ')}`)
  }

  #applyFreely() {
    return this.apply({ faults: [], interruption: undefined, allow: CONSENTS })
  }

  /** Follows the advice in the error message for unknown pins. */
  #dropDeadPins(diagnostics: readonly Diagnostic[]): boolean {
    const dead = diagnostics.filter(({ code }) => code === 'E_PIN_UNKNOWN')
    for (const { message } of dead) {
      const id = /has no compute `([^`]+)`/.exec(message)?.[1] ?? ''
      this.#manifest = withPin(this.#manifest, id, undefined)
    }
    return dead.length > 0
  }

  /** Follows the advice in the notes of an apply. */
  #repin(plan: Plan, { notes }: Outcome): void {
    for (const note of notes) {
      const match = /^(ep-\S+) (?:was replaced: change its pin.* to `id: (ep-\S+)`|is deleted, and its successor)/.exec(
        note,
      )
      if (match?.[1] !== undefined) this.#manifest = withPin(this.#manifest, match[1], match[2])
    }
    if (plan.steps.length === 0 && notes.length > 0) this.wrong.push(`notes without steps: ${notes.join(' ')}`)
  }

  /** Every request sent belongs to a step with consent, and nothing was created twice. */
  #check(plan: Plan, allow: readonly Consent[]): void {
    const agreed = plan.steps.filter((step) => isCovered(step, allow))
    for (const sent of this.#stage.sandbox.control.requests()) {
      if (sent.method === 'GET' || agreed.some((step) => isOf(step, sent, plan, this.#settings))) continue
      this.wrong.push(`${sent.method} ${sent.path} does not belong to a step with consent`)
    }
    const made = livesOf(this.#stage.sandbox).filter(({ id }) => !this.#before.has(id) && !this.#rivals.has(id))
    const places = made.filter(({ type }) => type === 'read_only').map(({ branchId, name }) => `${branchId}/${name}`)
    if (new Set(places).size < places.length) this.wrong.push(`created twice: ${places.join(', ')}`)
  }

  /** The operations of a step that is reported as done have ended on the service. */
  #checkEnd(plan: Plan, { step: id, status }: StepOutcome): void {
    const step = plan.steps.find((one) => one.id === id)
    // A delete takes effect before its operations end, and the response that names them may have been lost.
    if (status !== 'done' || step === undefined || step.kind === 'delete') return
    const { control } = this.#stage.sandbox
    const started = control.requests().flatMap((sent) => {
      if (!isOf(step, sent, plan, this.#settings)) return []
      return (sent.answer as { readonly operations?: readonly { readonly id: string }[] } | undefined)?.operations ?? []
    })
    const ids = new Set(started.map((operation) => operation.id))
    for (const change of control.dump().changes) {
      if (!('put' in change) || change.put.kind !== 'operation' || !ids.has(change.put.id)) continue
      const { action, status: now } = change.put
      if (!ENDED.has(now)) this.wrong.push(`${id} counts as done while its ${action} is ${now}`)
    }
  }

  /** A size that differs from both the plan's snapshot and the request was set by another client, and must stay. */
  #watchOverwritten(method: string, path: string, live: readonly Live[]): void {
    const id = /\/endpoints\/([^/]+)$/.exec(path)?.[1]
    const [before, after] = [this.#last.get(id ?? ''), live.find((one) => one.id === id)]
    const planned = this.#planned.get(id ?? '')
    if (method !== 'PATCH' || before === undefined || after === undefined || planned === undefined) return
    const [was, is] = [sizeOf(before), sizeOf(after)]
    if (was !== planned && is !== was && is === this.#askedSize(path, before)) {
      this.wrong.push(`${id} was ${planned} in the plan, another client set ${was}, and it was overwritten with ${is}`)
    }
  }

  #askedSize(path: string, { min, max }: Live): string | undefined {
    const sent = this.#stage.sandbox.control
      .requests()
      .findLast((one) => one.method === 'PATCH' && path.endsWith(one.path))
    const { endpoint = {} } = JSON.parse(sent?.body ?? '{}')
    return `${endpoint.autoscaling_limit_min_cu ?? min}-${endpoint.autoscaling_limit_max_cu ?? max}`
  }

  /** Finds replicas that we created although another client's replica with that name was visible. */
  #watchMadeTwice(live: readonly Live[]): void {
    for (const one of live) {
      if (this.#last.has(one.id) || this.#before.has(one.id)) continue
      if (one.suspendTimeoutSeconds === RIVALS_SUSPEND_TIMEOUT) this.#rivals.add(one.id)
      if (this.#rivals.has(one.id) || this.#lags || one.type !== 'read_only') continue
      const twin = [...this.#last.values()].find(
        ({ id, branchId, type, name }) =>
          this.#rivals.has(id) && branchId === one.branchId && type === one.type && name === one.name,
      )
      if (twin !== undefined && !this.#planned.has(twin.id))
        this.wrong.push(`${one.id} was created although ${twin.id} existed`)
    }
  }

  /** Must be called after every request that the server handled. */
  watch(method: string, path: string): void {
    const live = livesOf(this.#stage.sandbox)
    this.#watchOverwritten(method, path, live)
    this.#watchMadeTwice(live)
    this.#last = new Map(live.map((one) => [one.id, one]))
    const primaries = live.filter(({ type }) => type === 'read_write').map(({ branchId }) => branchId)
    if (new Set(primaries).size < primaries.length) this.wrong.push('two primaries on one branch')
    const ids = new Set(live.map(({ id }) => id))
    for (const id of this.#seen) {
      const isAsked = method === 'DELETE' && path.endsWith(`/${id}`)
      if (!ids.has(id) && !isAsked && !this.#hasRival) this.wrong.push(`${id} is gone, although no one deleted it`)
    }
    this.#seen = ids
  }
}

/** Implemented independently, because the engine's own decision is under test. */
export const isCovered = ({ refused, consents, kind }: Step, allow: readonly Consent[]): boolean =>
  refused === undefined &&
  consents.every((consent) => allow.includes(consent)) &&
  (kind !== 'delete' || allow.includes('delete') || allow.includes('replace'))

const sizeOf = ({ min, max }: Live): string => `${min}-${max}`

/**
 * The request matches the plan, except for fields that another client had already set. The live settings of the
 * compute, or of the one that it replaces, are kept if they are not declared.
 */
export const isOf = (
  { request: { method, path, body }, change, compute }: Step,
  sent: { readonly method: string; readonly path: string; readonly body?: string },
  { steps }: Plan,
  settings: ReadonlyMap<string, Live['settings']>,
): boolean => {
  if (method !== sent.method || path !== sent.path) return false
  const planned: Readonly<Record<string, unknown>> = body?.endpoint ?? {}
  const replaced = steps.find((one) => one.change === change && one.kind === 'delete')
  const live = settings.get(compute.id ?? replaced?.compute.id ?? '')
  const kept = live && mergeSettings(live, body?.endpoint.settings ?? {})
  return Object.entries(JSON.parse(sent.body ?? '{}').endpoint ?? {}).every(
    ([name, value]) =>
      isDeepStrictEqual(value, planned[name]) || (name === 'settings' && isDeepStrictEqual(value, kept)),
  )
}

type Live = ReturnType<typeof livesOf>[number]

export const livesOf = ({ control }: Sandbox) =>
  control.dump().changes.flatMap((change) => ('put' in change && change.put.kind === 'compute' ? [change.put] : []))

/** The Postgres settings of each compute. */
export const settingsOf = (sandbox: Sandbox): ReadonlyMap<string, Live['settings']> =>
  new Map(livesOf(sandbox).map(({ id, settings }) => [id, settings]))

/** Replaces a pin; `undefined` removes it. */
const withPin = (declared: DeclaredDocument, old: string, id: string | undefined): DeclaredDocument => {
  const repin = <T extends Declared>({ id: pin, ...rest }: T) => {
    const now = pin === old ? id : pin
    return now === undefined ? rest : { ...rest, id: now }
  }
  const shape = ({ primary, replicas = {}, ...rest }: DeclaredShape): DeclaredShape => ({
    ...rest,
    ...(primary === undefined ? {} : { primary: primary === 'absent' ? primary : repin(primary) }),
    replicas: Object.fromEntries(Object.entries(replicas).map(([key, replica]) => [key, repin(replica)])),
  })
  const branches = Object.entries(declared.branches ?? {}).map(([name, one]) => [name, shape(one)])
  return { ...declared, branches: Object.fromEntries(branches) }
}
