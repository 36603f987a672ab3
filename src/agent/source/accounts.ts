/** Manages the API keys and their accounts. Keys that belong to the same account share one rate limit. */
import { type ApiOptions, createWriteApi, type WriteApi } from '../../api/index.ts'
import { globFilter } from '../../base/index.ts'
import type { AccountView } from '../../model/index.ts'
import { Secret } from './secret.ts'

const MINUTE = 60_000

/** The service's rate limit, which all programs that use the account share. */
const ACCOUNT_LIMIT_PER_MINUTE = 700
/** On average, every sixth refresh also reads the branches and the settings. */
export const REQUESTS_PER_REFRESH = 8 / 6
/** The part of these requests that refreshes may use. The others are for applies, so that they do not have to wait. */
const REFRESH_PART = 0.8
const SHORTEST_INTERVAL = MINUTE
const OWN_RATE = ACCOUNT_LIMIT_PER_MINUTE / 2
const LEAST_RATE = 10
/** From half of the rate, it takes ten minutes to grow back. */
const GROWTH_PER_MINUTE = OWN_RATE / 20

/** The agent's rate right after the last 429 response. */
interface Limited {
  readonly at: number
  readonly perMinute: number
}

/** How many requests per minute the agent may send: half of the account's rate, or less for a while after a 429. */
export const allowance = (limited: Limited | undefined, now: number): number =>
  limited === undefined
    ? OWN_RATE
    : Math.min(OWN_RATE, limited.perMinute + ((now - limited.at) / MINUTE) * GROWTH_PER_MINUTE)

/** Halves the rate. Responses that arrive together are one signal. */
export const afterTooMany = (limited: Limited | undefined, now: number): Limited =>
  limited !== undefined && now - limited.at < MINUTE
    ? limited
    : { at: now, perMinute: Math.max(LEAST_RATE, allowance(limited, now) / 2) }

/** The interval that was asked for, lengthened if refreshing all projects would otherwise take too many requests. */
export const intervalThatFits = (wanted: number, projects: number, requestsPerMinute: number): number =>
  Math.max(wanted, SHORTEST_INTERVAL, ((projects * REQUESTS_PER_REFRESH) / (requestsPerMinute * REFRESH_PART)) * MINUTE)

export interface AgentKey {
  readonly name: string
  /** Reads the key. Called whenever the manifests are read, because the key in the file may have been replaced. */
  read(): Promise<string>
  /** Globs for the ids of the projects that the key is used for. If absent, it is used for all projects. */
  readonly projects?: readonly string[] | undefined
  /** Globs for the files, including shared files, that may configure these projects. If absent, any file may. */
  readonly paths?: readonly string[] | undefined
  /** Overrides the account that the service reports. */
  readonly account?: string | undefined
}

interface AccountsOptions {
  readonly keys: readonly AgentKey[]
  /** The options that all clients have in common. */
  readonly api: Omit<ApiOptions, 'apiKey' | 'clients' | 'watch'>
  readonly interval: number
  readonly now: () => number
}

export interface KeyOfProject {
  readonly api: WriteApi
  readonly account: string
  /** Returns the first of these files that is not allowed to configure the projects of the key. */
  foreignFile(files: () => readonly string[]): string | undefined
}

export interface Accounts {
  /** Returns the key to use for a project, or `undefined` if no key covers the project. */
  of(project: string): KeyOfProject | undefined
  /** In milliseconds. Lengthened if refreshing all of the account's projects would otherwise exceed the rate limit. */
  intervalOf(project: string, projects: readonly string[]): number
  /**
   * Reads the keys again, because those in the files may have been replaced.
   *
   * @returns the accounts whose key was replaced.
   */
  rereadKeys(log: (line: string) => void): Promise<ReadonlySet<string>>
  /** Calls `handle` when the service refuses a key, but once per account until its key is replaced. */
  onRefused(handle: () => void): void
  /** The text without the keys. */
  hideIn(text: string): string
  view(projects: readonly string[]): readonly AccountView[]
  close(): Promise<void>
}

/** A round stops waiting for a project that stays locked for longer than this, so that other projects can run. */
const LOCK_TIMEOUT_MS = 60_000

interface Opened extends KeyOfProject {
  readonly secret: Secret
  readonly isFor: (project: string) => boolean
  account: string
}

export const openAccounts = async (options: AccountsOptions): Promise<Accounts> => {
  const { keys, interval, now } = options
  const limited = new Map<string, Limited>()
  const requests = new Map<string, Record<string, number>>()
  const opened: Opened[] = []
  const refused = new Set<string>()
  let onRefused = (): void => undefined

  const allowed = (account: string): number => allowance(limited.get(account), now())
  const count = (account: string, status: number | 'none' = 'none'): void => {
    const counts = requests.get(account) ?? {}
    requests.set(account, { ...counts, [status]: (counts[status] ?? 0) + 1 })
    if (status === 429) limited.set(account, afterTooMany(limited.get(account), now()))
    if (status !== 401 || refused.has(account)) return
    refused.add(account)
    onRefused()
  }
  const connect = (secret: Secret, accountOf: () => string): WriteApi =>
    createWriteApi({
      ...options.api,
      apiKey: () => secret.text,
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      clients: () => {
        const account = accountOf()
        const others = Math.max(1, opened.filter((one) => one.account === account).length)
        return (others * ACCOUNT_LIMIT_PER_MINUTE) / allowed(account)
      },
      watch: { begin: () => (_problem, status) => count(accountOf(), status) },
    })
  for (const key of keys) {
    const secret = new Secret(`The key ${key.name}`, await key.read(), key.read)
    const mayDeclare = globFilter(key.paths)
    const one: Opened = {
      secret,
      isFor: globFilter(key.projects),
      foreignFile: (files) => (key.paths === undefined ? undefined : files().find((file) => !mayDeclare(file))),
      account: UNKNOWN,
      api: connect(secret, () => one.account),
    }
    one.account = key.account ?? (await one.api.account())?.id ?? UNKNOWN
    opened.push(one)
  }
  const keyOf = (project: string): Opened | undefined => opened.find(({ isFor }) => isFor(project))
  const fitting = (account: string, projects: readonly string[]): number =>
    intervalThatFits(interval, projects.filter((id) => keyOf(id)?.account === account).length, allowed(account))
  return {
    of: keyOf,
    intervalOf: (project, projects) => fitting(keyOf(project)?.account ?? UNKNOWN, projects),
    rereadKeys: async (log) => {
      const replaced = new Set<string>()
      for (const { secret, account } of opened) if (await secret.reread(log)) replaced.add(account)
      for (const account of replaced) refused.delete(account)
      return replaced
    },
    hideIn: (text) => opened.reduce((hidden, { secret }) => secret.hideIn(hidden), text),
    onRefused: (handle) => {
      onRefused = handle
    },
    view: (projects) =>
      [...new Set(opened.map(({ account }) => account))].map((name) => {
        const fits = fitting(name, projects)
        return {
          name,
          projects: projects.filter((id) => keyOf(id)?.account === name).length,
          intervalSeconds: Math.round(fits / 1_000),
          isStretched: fits > interval,
          requests: requests.get(name) ?? {},
        }
      }),
    close: async () => {
      await Promise.all(opened.map(({ api }) => api.close()))
    },
  }
}

/** The name of the account to which all keys with an unknown account are assigned. */
const UNKNOWN = 'unknown'
