/** Serves an agent's page that shows projects in all states. */
import { serveAgent } from '../../src/agent/index.ts'
import { FakeControl, project, START } from '../../test/agent/fake-control.ts'
import { EVERY_STATE } from '../../test/agent/views.ts'

/** Calls `use` with the URL of the page. */
export const withAgentPage = async (use: (url: string) => Promise<void>): Promise<void> => {
  const tenants = Array.from({ length: 12 }, (_, index) =>
    project(`calm-lake-${80_000_000 + index}`, { name: `tenant-${index + 1}` }),
  )
  const server = await serveAgent(new FakeControl([...EVERY_STATE, ...tenants]), {
    listen: { host: '127.0.0.1', port: 0 },
    tokens: { read: { text: 'unused' }, write: { text: 'unused' } },
    now: () => START,
    log: console.error,
  })
  try {
    await use(`${server.url}/`)
  } finally {
    await server.close()
  }
}
