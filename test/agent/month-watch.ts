/** Checks a simulated month from outside the agent: rules that it must never break, and facts that it must report. */
import type { ProjectNews } from '../../src/agent/tell/notifier.ts'
import type { MissedWindowView, ProjectView } from '../../src/model/index.ts'
import type { FaultOrder, Sandbox } from '../../src/sandbox/index.ts'
import { hourOf, indexOf, isLasting, isVictim, PREVIEW_SIZE, projectId, WINDOW_HOURS } from './month-world.ts'
import { HOUR, MINUTE } from './running.ts'

const DAY = 24 * HOUR
/** A missed window must be reported within this time, which is longer than any downtime of the agent. */
const REPORTED_AFTER = 8 * HOUR
/** A fault excuses deviations for this long, because other requests may have been in flight. */
const BLAMED_FOR = 5_000

type RecordedRequest = ReturnType<Sandbox['control']['requests']>[number]

interface Span {
  readonly from: number
  readonly cause: string
  /** The project that it concerns. If absent, it concerns all. */
  readonly index?: number | undefined
  to: number
}

interface Miss {
  readonly index: number
  readonly opensAt: number
  readonly closesAt: number
}

interface Received {
  readonly id: string
  readonly subject: string
  readonly data: Pick<ProjectView, 'state' | 'reason' | 'since'> & ProjectNews
}

const isByHand = (path: string, body: string): boolean =>
  /\/(re)?start$|\/branches(\/|$)/.test(path) || body.includes('"suspend_timeout_seconds":600')

export class MonthWatch {
  readonly problems: string[] = []
  readonly missed: Record<string, number> = {}
  windows = 0
  changes = 0
  strikes = 0
  mostRequestsAMinute = 0
  readonly #now: () => number
  #minute = { at: 0, requests: 0 }
  #struck = { passing: 0, lasting: 0 }
  #blamed = { passing: 0, lasting: 0 }
  readonly #faults = new Map<number, { passing: number; lasting: number }>()
  #spans: Span[] = []
  #misses: Miss[] = []
  #without: readonly number[] = []
  #ids = new Map<string, number>()
  #facts = new Map<string, number>()
  readonly #sizes: { readonly at: number; readonly size: number }[][]

  constructor(now: () => number, sizes: readonly number[]) {
    this.#now = now
    this.#sizes = sizes.map((size) => [{ at: 0, size }])
  }

  /** Called after each request. @param isByAgent whether the agent sent it. */
  handled(
    path: string,
    isByAgent: boolean,
    faults: readonly { readonly fault: FaultOrder; readonly struck: number }[],
  ): void {
    const now = this.#now()
    const at = Math.floor(now / MINUTE)
    const before = this.#minute.at === at ? this.#minute.requests : 0
    this.#minute = { at, requests: before + (isByAgent ? 1 : 0) }
    this.mostRequestsAMinute = Math.max(this.mostRequestsAMinute, this.#minute.requests)
    const struck = { passing: 0, lasting: 0 }
    for (const one of faults) struck[isLasting(one.fault) ? 'lasting' : 'passing'] += one.struck + 1
    const own = this.#faults.get(indexOf(path)) ?? { passing: 0, lasting: 0 }
    for (const kind of ['passing', 'lasting'] as const) {
      if (struck[kind] !== this.#struck[kind]) {
        this.#blamed[kind] = now
        this.strikes += 1
      }
      if (now - this.#blamed[kind] < BLAMED_FOR) own[kind] = now
    }
    this.#struck = struck
    this.#faults.set(indexOf(path), own)
  }

  /** Starts something that may delay steps, such as an outage, which lasts until `to`, or until the returned function is called. */
  begin(cause: string, index?: number, to = Number.POSITIVE_INFINITY): () => void {
    const span: Span = { from: this.#now(), to, cause, index }
    this.#spans.push(span)
    return () => {
      span.to = this.#now()
    }
  }

  committed(index: number, size: number): void {
    const known = this.#sizes[index] ?? []
    known.push({ at: this.#now(), size })
    if (known.length > 3) known.shift()
  }

  /** Called for each received event, which may be a redelivery. */
  received(body: string): void {
    const { id, subject, data }: Received = JSON.parse(body)
    if (this.#ids.has(id)) return
    this.#ids.set(id, this.#now())
    const { state, reason = '', since, previous, applied, missedWindow } = data
    // In virtual time, two applies may end in the same millisecond.
    if (applied !== undefined) this.#once(`${subject} applied ${applied.at} ${applied.done.join('; ')}`)
    if (missedWindow !== undefined) this.#once(`${subject} notified of ${missedWindow.closesAt}`)
    if (applied !== undefined || missedWindow !== undefined) return
    this.#once(`${subject} ${state} ${reason} since ${since}`)
    if (previous.state === state && (previous.reason ?? '') === reason) this.#problem(`${subject}: not news: ${state}`)
  }

  /**
   * Called every hour, on the hour.
   *
   * @param live the size of each project's main compute, if it has one, and the projects with a branch that has none.
   */
  hour(
    { sizes, without }: { readonly sizes: readonly (number | undefined)[]; readonly without: readonly number[] },
    requests: readonly RecordedRequest[],
    shown: readonly ProjectView[],
  ): void {
    const now = Math.round(this.#now() / HOUR) * HOUR
    for (const { id, state, missedWindow } of shown) {
      if (['Invalid', 'Failing', 'Blocked', 'OutOfSync'].includes(state)) this.#facts.set(`${id} raised`, this.#now())
      if (missedWindow !== undefined) this.#windowMissed(id, missedWindow)
    }
    for (const request of requests) this.#check(request)
    for (const [index, known] of this.#sizes.entries()) {
      const hour = hourOf(index)
      if (hour === undefined || sizes[index] === known.at(-1)?.size) continue
      const at = new Date(now).getUTCHours()
      if (at === hour) this.windows += 1
      if (at === hour + WINDOW_HOURS) this.#misses.push({ index, opensAt: now - WINDOW_HOURS * HOUR, closesAt: now })
    }
    for (const index of without) {
      const causes = this.#causes({ index, opensAt: now - HOUR, closesAt: now }).filter((one) => one !== 'suspended')
      if (this.#without.includes(index) && causes.length === 0)
        this.#problem(`${projectId(index)}: a branch has had no primary for an hour`)
    }
    this.#without = without
    const due = this.#misses.filter(({ closesAt }) => closesAt === now - REPORTED_AFTER)
    for (const miss of due) this.#explain(miss)
    const old = now - 2 * DAY
    this.#misses = this.#misses.filter(({ closesAt }) => closesAt > old)
    this.#spans = this.#spans.filter(({ to }) => to > old)
    this.#ids = new Map([...this.#ids].filter(([, time]) => time > old))
    this.#facts = new Map([...this.#facts].filter(([, time]) => time > old))
  }

  #problem(what: string): void {
    this.problems.push(`${new Date(this.#now()).toISOString()} ${what}`)
  }

  /** Reports a fact that was sent under two event ids. */
  #once(fact: string): void {
    if (this.#facts.has(fact)) this.#problem(`${fact}: reported twice`)
    this.#facts.set(fact, this.#now())
  }

  #windowMissed(subject: string, { closesAt: closed, cause }: MissedWindowView): void {
    const fact = `${subject} missed ${closed}`
    // The page shows the last missed window until another one is missed.
    if (this.#facts.has(fact) || Date.parse(closed) < this.#now() - DAY) return
    this.#facts.set(fact, this.#now())
    const closesAt = Date.parse(closed)
    const index = indexOf(subject)
    this.missed[cause] = (this.missed[cause] ?? 0) + 1
    const opensAt = closesAt - WINDOW_HOURS * HOUR
    const causes = this.#causes({ index, opensAt, closesAt })
    if (causes.length === 0) this.#problem(`${subject}: missed its window, ${cause}, and nothing was in its way`)
    if (cause === 'agent-down' && !causes.includes('agent')) this.#problem(`${subject}: the agent was not down`)
  }

  /** Checks that each window that closed with steps left was reported as missed. */
  #explain(miss: Miss): void {
    const { index, opensAt, closesAt } = miss
    const project = projectId(index)
    const causes = this.#causes(miss)
    const isReported = this.#facts.has(`${project} missed ${new Date(closesAt).toISOString()}`)
    const raisedAt = this.#facts.get(`${project} raised`) ?? 0
    const isShown = raisedAt > opensAt - DAY
    // The agent could not know about these steps, so it did not miss the window.
    const isUnknown = ['agent', 'git', 'away'].some((cause) => causes.includes(cause))
    if (causes.length === 0)
      this.#problem(`${project}: not done by ${new Date(closesAt).toISOString()}, without a cause`)
    if (!isReported && !isShown && !isUnknown)
      this.#problem(`${project}: not done by ${new Date(closesAt).toISOString()}, and not reported`)
  }

  #causes({ index, opensAt, closesAt }: Miss): readonly string[] {
    const { passing, lasting } = this.#faults.get(index) ?? { passing: 0, lasting: 0 }
    return [
      ...this.#spans
        .filter((span) => span.index === undefined || span.index === index)
        .filter(({ from, to }) => from <= closesAt + HOUR && to >= opensAt - MINUTE)
        .map(({ cause }) => cause),
      ...(passing >= opensAt - 10 * MINUTE ? ['fault'] : []),
      ...(lasting >= opensAt - DAY ? ['lasting fault'] : []),
    ]
  }

  #check({ at, method, path, body = '', status, answer }: RecordedRequest): void {
    const index = indexOf(path)
    if (method === 'GET' || status >= 300 || isByHand(path, body)) return
    this.changes += 1
    const { endpoint } = JSON.parse(body === '' ? '{}' : body) as { endpoint?: Record<string, unknown> }
    const size = endpoint?.autoscaling_limit_max_cu
    const isDeclared =
      size === undefined || [{ size: PREVIEW_SIZE }, ...(this.#sizes[index] ?? [])].some((one) => one.size === size)
    const isNever = [undefined, -1].includes(endpoint?.suspend_timeout_seconds as number | undefined)
    const isAllowed = method === 'PATCH' || (method === 'POST' && path.endsWith('/endpoints') && isVictim(index))
    if (!isAllowed || !isDeclared || !isNever) this.#problem(`not allowed: ${method} ${path} ${body}`)
    this.#checkWindow(index, at, method, size !== undefined, `${path} ${body}`, answer)
  }

  /**
   * Checks that a request that disrupts connections was sent within its window. Only requests that resize an active
   * compute do; some computes are idle, because manual changes let them suspend.
   */
  #checkWindow(index: number, at: number, method: string, isSize: boolean, what: string, answer: unknown): void {
    const hour = hourOf(index)
    const { endpoint } = (answer ?? {}) as { readonly endpoint?: { readonly current_state: string } }
    // A response replaced by a fault does not show whether the compute was idle.
    if (hour === undefined || method !== 'PATCH' || !isSize || endpoint === undefined) return
    if (endpoint.current_state === 'idle') return
    const sinceOpen = at - (Math.floor(at / DAY) * DAY + hour * HOUR)
    // A running step may continue after the window closes.
    if (sinceOpen < 0 || sinceOpen > WINDOW_HOURS * HOUR + 2 * MINUTE)
      this.#problem(`outside of its window: ${new Date(at).toISOString()} ${what}`)
  }
}
