/**
 * Sends changes as server-sent events. An event contains the current state of a project, the id of a removed project,
 * or the parts of the view that are not projects.
 */
import { plainJson } from '../../../base/index.ts'
import type { AgentView } from '../../../model/index.ts'
import type { AgentControl } from '../../control.ts'

/** Changes that occur within this interval are sent together. */
const GATHER_MS = 1_000
const HEARTBEAT_MS = 20_000
const MAX_CLIENTS = 100
/** The maximum number of chunks that are buffered for a client that has stopped reading. */
const MAX_WAITING = 1_000

export type LiveEvents = ReturnType<typeof liveEvents>

type Client = ReadableStreamDefaultController<Uint8Array>

export const liveEvents = (control: Pick<AgentControl, 'view' | 'watch'>) => {
  /** Each client, with whether it may still read. */
  const clients = new Map<Client, () => boolean>()
  const encoder = new TextEncoder()
  let sent = partsOf(control.view())
  let timer: NodeJS.Timeout | undefined

  const drop = (client: Client): void => {
    if (clients.delete(client)) client.close()
  }
  const send = (text: string): void => {
    const bytes = encoder.encode(text)
    for (const [client, mayRead] of clients) {
      if (mayRead()) client.enqueue(bytes)
      // A client that is disconnected here connects again, and the page then reads the full state.
      if (!mayRead() || (client.desiredSize ?? 0) < -MAX_WAITING) drop(client)
    }
  }
  const sendChanges = (): void => {
    timer = undefined
    const now = partsOf(control.view())
    const messages = messagesOf(sent, now)
    sent = now
    if (messages.length > 0) send(messages.join(''))
  }
  const stopWatching = control.watch(() => {
    timer ??= setTimeout(sendChanges, GATHER_MS)
  })
  // The heartbeat keeps proxies from closing the connection, and detects dead clients.
  const heartbeat = setInterval(() => send(': \n\n'), HEARTBEAT_MS)
  heartbeat.unref()
  return {
    /**
     * Opens a stream for a client. Returns `undefined` if there are too many clients.
     *
     * @param mayRead called before anything is sent, because the token of the client may have been replaced.
     */
    open: (mayRead: () => boolean = () => true): ReadableStream<Uint8Array> | undefined => {
      if (clients.size >= MAX_CLIENTS) return undefined
      let own: Client | undefined
      return new ReadableStream<Uint8Array>({
        start: (client) => {
          own = client
          clients.set(client, mayRead)
          client.enqueue(encoder.encode('retry: 3000\n\n'))
        },
        cancel: () => {
          if (own !== undefined) clients.delete(own)
        },
      })
    },
    close: (): void => {
      stopWatching()
      clearTimeout(timer)
      clearInterval(heartbeat)
      for (const client of clients.keys()) drop(client)
    },
  }
}

interface Parts {
  readonly projects: ReadonlyMap<string, string>
  readonly agent: string
}

/** The parts of the view to compare. `tickedAt` and the request counters are left out, because they always change. */
const partsOf = ({ projects, tickedAt: _, accounts, ...rest }: AgentView): Parts => ({
  projects: new Map(projects.map((project) => [project.id, plainJson(project)])),
  agent: plainJson({ ...rest, accounts: accounts.map(({ requests: _, ...account }) => account) }),
})

const messagesOf = (before: Parts, now: Parts): readonly string[] => [
  ...[...now.projects].flatMap(([id, json]) => (before.projects.get(id) === json ? [] : [message('project', json)])),
  ...[...before.projects.keys()].flatMap((id) => (now.projects.has(id) ? [] : [message('removed', plainJson({ id }))])),
  ...(before.agent === now.agent ? [] : [message('agent', now.agent)]),
]

/** Formats one event. The JSON fits on one `data` line because it contains no newlines. */
const message = (event: string, json: string): string => `event: ${event}\ndata: ${json}\n\n`
