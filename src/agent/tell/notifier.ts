/**
 * Notifies a receiver of each change of a project's state: one POST, in order and at most once, with a CloudEvent that
 * is signed as Standard Webhooks. Nothing is stored, so alerts should use the metrics instead.
 */
import { createHmac, randomUUID } from 'node:crypto'
import { isLoopback } from '../../api/index.ts'
import { type Clock, dateOf, EspalierError, plainJson } from '../../base/index.ts'
import type {
  AgentState,
  AgentStatus,
  ApplyView,
  DifferenceView,
  MissedWindowView,
  ProjectView,
  Released,
} from '../../model/index.ts'
import { agentStatusWords, shownReleased } from '../../report/index.ts'
import { webhookKey } from './http/git-hook.ts'

/** What happened to a project since its last event. */
export interface ProjectNews {
  /** The state in the last event. */
  readonly previous: { readonly state: AgentState; readonly reason?: string | undefined }
  readonly applied?: ApplyView | undefined
  readonly missedWindow?: MissedWindowView | undefined
  /** Whether the last commit removed something from the manifests. */
  readonly isReleasing?: boolean
}

/** Whether a state is worth an event. The others soon become another state without anyone's doing. */
export const isNotified = ({ state, reason }: AgentStatus): boolean =>
  state !== 'Progressing' && state !== 'Unknown' && reason !== 'DriftUnconfirmed'

export const hasNews = (project: AgentStatus, { previous, applied, missedWindow, isReleasing }: ProjectNews): boolean =>
  applied !== undefined ||
  missedWindow !== undefined ||
  isReleasing === true ||
  (isNotified(project) && (project.state !== previous.state || project.reason !== previous.reason))

/** How many differences and removals an event lists. */
const MOST = 20

export const eventData = (
  project: ProjectView,
  { isReleasing: _, applied, ...news }: ProjectNews,
): Readonly<Record<string, unknown>> => {
  const { id, name, account, state, reason, since, version, command, differences } = project
  const released = shownReleased(project.released)
  return {
    project: { id, name },
    account,
    state,
    reason,
    since,
    message: project.message ?? agentStatusWords(project),
    version,
    command,
    differences: differences.slice(0, MOST).map(withoutValues),
    moreDifferences: Math.max(0, differences.length - MOST) || undefined,
    released: released.slice(0, MOST).map(releasedWithoutValues),
    moreReleased: Math.max(0, released.length - MOST) || undefined,
    ...news,
    applied: applied && appliedWithoutValues(applied),
  }
}

/** An event has no values, because live settings may be sensitive. */
const withoutValues = ({ branch, compute, kind, path, impact, origin, declaredAt }: DifferenceView) => {
  return { branch, compute, kind, path, impact, origin, declaredAt }
}

const appliedWithoutValues = ({ effects: _, ...applied }: ApplyView) => applied

const releasedWithoutValues = (one: Released) => ({
  kind: one.kind,
  branch: one.branch.name,
  compute: one.compute?.id,
  path: one.kind === 'attribute' ? one.path : undefined,
  safeguard: one.kind === 'safeguard' ? one.safeguard : undefined,
})

/** Sends a request, and returns the HTTP status. Rejects if there is no response. */
export type Send = (body: string, headers: Readonly<Record<string, string>>) => Promise<number>

const TIMEOUT_MS = 10_000
const ATTEMPTS_AFTER_MS = [0, 1_000, 3_000, 9_000]
/** How long the agent waits for events in flight before it exits. Long enough for the retries of an event. */
const END_MS = 15_000
/** The receiver may be down while many projects change. */
const MOST_WAITING = 1_000

interface NotifierOptions {
  readonly send: Send
  /** If absent, requests are not signed. */
  readonly key?: Buffer | undefined
  readonly clock: Clock
  /** Logs events that could not be delivered. */
  readonly log: (line: string) => void
}

export class Notifier {
  readonly #options: NotifierOptions
  readonly #stopping = new AbortController()
  #sending: Promise<void> = Promise.resolve()
  #waiting = 0

  constructor(options: NotifierOptions) {
    this.#options = options
  }

  /** @param from the agent's repository or folder, which identifies the agent. */
  notify(project: ProjectView, news: ProjectNews, from: string): void {
    const lost = (why: string): void =>
      this.#options.log(`The event for ${project.id} (${project.state}) was not delivered: ${why}.`)
    if (this.#waiting >= MOST_WAITING) {
      lost(`${MOST_WAITING} others are waiting`)
      return
    }
    const id = `evt_${randomUUID()}`
    const body = plainJson({
      specversion: '1.0',
      id,
      source: `urn:espalier:agent:${encodeURIComponent(from)}`,
      type: 'dev.espalier.state',
      subject: project.id,
      time: new Date(this.#now()).toISOString(),
      datacontenttype: 'application/json',
      data: eventData(project, news),
    })
    this.#waiting += 1
    this.#sending = this.#sending.then(async () => {
      const failure = await this.#deliver(id, body)
      if (failure !== undefined) lost(failure)
      this.#waiting -= 1
    })
  }

  /** Waits briefly for the events in flight, and then gives up on the others. */
  async end(): Promise<void> {
    const timer = new AbortController()
    const limit = this.#options.clock.sleep(END_MS, timer.signal).catch(() => undefined)
    await Promise.race([this.#sending, limit])
    timer.abort()
    this.#stopping.abort()
  }

  /** @returns why the event was not delivered, or `undefined` if it was. */
  async #deliver(id: string, body: string): Promise<string | undefined> {
    const { clock, send, key } = this.#options
    let failure = 'the agent stopped'
    for (const wait of ATTEMPTS_AFTER_MS) {
      if (wait > 0) await clock.sleep(wait, this.#stopping.signal).catch(() => undefined)
      if (this.#stopping.signal.aborted) return failure
      try {
        const status = await send(body, eventHeaders(key, id, Math.floor(this.#now() / 1_000), body))
        if (status >= 200 && status < 300) return undefined
        failure = `the receiver returned ${status}`
      } catch {
        // The error may contain the URL, which may contain a secret.
        failure = 'the receiver did not respond'
      }
    }
    return failure
  }

  /** This is wall-clock time, because receivers reject signatures that are minutes old, and laptops sleep for hours. */
  #now(): number {
    const { clock } = this.#options
    return dateOf(clock)
  }
}

/** @param timestamp the time of this attempt, not the time of the event, in seconds since the epoch. */
export const eventHeaders = (
  key: Buffer | undefined,
  id: string,
  timestamp: number,
  body: string,
): Readonly<Record<string, string>> => {
  const signature = key && createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'content-type': 'application/cloudevents+json; charset=utf-8',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    ...(signature === undefined ? {} : { 'webhook-signature': `v1,${signature}` }),
  }
}

/**
 * Returns a function that sends events to the URL given with `--notify`.
 *
 * @throws {EspalierError} `E_USAGE` if events would be sent unencrypted to another machine. The message omits the URL, as
 *   it may hold a token.
 */
export const sendTo = (url: string): Send => {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' }
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname))) {
    throw new EspalierError('E_USAGE', '--notify must be an https URL, or an http URL of this machine.')
  }
  return async (body, headers) => {
    const answer = await fetch(url, {
      method: 'POST',
      body,
      headers,
      // A redirect would send the event to a URL that the user did not configure.
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await answer.body?.cancel()
    return answer.status
  }
}

/** @throws {EspalierError} `E_USAGE` if the file given with `--notify-secret-file` does not contain a valid secret. */
export const notifyKey = (text: string): Buffer => {
  const key = webhookKey(text.trim())
  if (key !== undefined) return key
  throw new EspalierError('E_USAGE', 'The file of --notify-secret-file does not contain a Standard Webhooks secret.', {
    hint: 'Create one with: echo "whsec_$(openssl rand -base64 32)" > FILE',
  })
}
