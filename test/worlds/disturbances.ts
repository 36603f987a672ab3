/** What can disturb an apply at a request: another client, a fault, a kill, a Ctrl-C, or clocks that differ. */
import { PROJECT } from '../planner/world.ts'
import type { Answer, Direct, Sent } from './direct.ts'

export const ROOT = `/projects/${PROJECT}`

/** What a disturbance can do to a run. */
export interface Disturbed {
  readonly direct: Direct
  kill(): void
  stop(): void
}

export interface Disturbance {
  readonly name: string
  /** Sent by another client just before the request. */
  readonly rival?: Sent
  /** Gives the response instead of the service. */
  readonly answer?: (sent: Sent, direct: Direct) => Promise<Answer>
  readonly before?: (run: Disturbed) => void
}

/** The part of the project that decides what can happen. */
export interface Scene {
  /** The branch that the request's compute is on, or that a new compute will be on. */
  readonly branch: string | undefined
  readonly isDefault: boolean
  /** Whether no request of this kind was sent before: one fault for each kind of read is enough. */
  readonly isFirst: boolean
}

/** The size that the other client sets. No world declares it. */
export const RESIZED = 3

const fromRival = (name: string, method: string, path: string, body?: object): Disturbance => ({
  name,
  rival: { method, path: `${ROOT}${path}`, body: body === undefined ? undefined : JSON.stringify(body) },
})

const status = (code: number): Disturbance => ({
  name: `${code}`,
  answer: async () => ({ status: code, text: JSON.stringify({ code: '', message: 'injected' }) }),
})

const lostRequest: Disturbance = { name: 'lost request', answer: async () => 'reset' }

const staleList: Disturbance = {
  name: 'stale list',
  before: ({ direct }) => {
    direct.addFault({ on: 'request', method: 'GET', effect: { kind: 'lag', ms: 20_000 } })
  },
}

const ON_READS: readonly Disturbance[] = [lostRequest, status(500), status(404)]

const stop: Disturbance = { name: 'Ctrl-C', before: (run) => run.stop() }
const kill: Disturbance = { name: 'kill', before: (run) => run.kill(), answer: async () => 'nothing' }

const ON_WRITES: readonly Disturbance[] = [
  ...[0, 10_000].map((ms) => ({
    name: `response lost after ${ms} ms`,
    answer: async (sent: Sent, direct: Direct) => {
      await direct.send(sent)
      await direct.advance(ms)
      return 'reset' as const
    },
  })),
  lostRequest,
  status(423),
  status(500),
  {
    name: 'failed operation',
    before: ({ direct }) => {
      direct.addFault({ on: 'operation', effect: { kind: 'fail', message: 'no host had room' } })
    },
  },
  kill,
  {
    name: 'kill after the request',
    before: (run) => run.kill(),
    answer: async (sent, direct) => {
      await direct.send(sent)
      return 'nothing'
    },
  },
  stop,
]

const CLOCKS: readonly Disturbance[] = [4_000, -4_000].map((ms) => ({
  name: `clocks differ by ${ms} ms`,
  before: ({ direct }) => {
    direct.skewMs = ms
  },
}))

/** The kind of a read: its path without ids and its query. */
export const kindOf = ({ path }: Sent): string =>
  path
    .slice(ROOT.length)
    .replace(/\/ep-[^/?]+/, '/ID')
    .replace(/\?.*/, '')

/** Disturbances that touch nothing that the request reads or writes are left out, because they commute with it. */
export const disturbancesAt = (sent: Sent, { branch, isDefault, isFirst }: Scene): readonly Disturbance[] => {
  const compute = /\/endpoints\/([^/?]+)$/.exec(sent.path)?.[1]
  const endpoint = { autoscaling_limit_min_cu: RESIZED, autoscaling_limit_max_cu: RESIZED }
  const onCompute =
    compute === undefined
      ? []
      : [
          fromRival(`resize ${compute}`, 'PATCH', `/endpoints/${compute}`, { endpoint }),
          fromRival(`delete ${compute}`, 'DELETE', `/endpoints/${compute}`),
          fromRival(`move ${compute}`, 'PATCH', `/endpoints/${compute}`, {
            endpoint: { branch_id: branch === 'br-main' ? 'br-two' : 'br-main' },
          }),
        ]
  const onBranch =
    branch === undefined
      ? []
      : [
          fromRival(`rename ${branch}`, 'PATCH', `/branches/${branch}`, { branch: { name: 'renamed' } }),
          fromRival(`protect ${branch}`, 'PATCH', `/branches/${branch}`, { branch: { protected: true } }),
          ...(isDefault ? [] : [fromRival(`default ${branch}`, 'POST', `/branches/${branch}/set_as_default`)]),
        ]
  if (sent.method !== 'GET') {
    const twin = sent.method === 'POST' ? [{ name: 'twin', rival: sent }] : []
    return [...ON_WRITES, ...onCompute, ...onBranch, ...twin]
  }
  const kind = kindOf(sent)
  const faults = isFirst ? ON_READS : []
  if (kind === '/branches') return [...faults, ...onBranch]
  if (kind !== '/endpoints/ID') return isFirst ? [...faults, staleList] : []
  const states = ['suspend', 'start'].map((what) =>
    fromRival(`${what} ${compute}`, 'POST', `/endpoints/${compute}/${what}`),
  )
  return [...faults, ...onCompute, ...states, ...(isFirst ? [stop, kill, ...CLOCKS] : [])]
}
