// Opens one GitHub issue for each project that needs attention, keeps it up to date, and closes it afterwards.
// Usage: node github-issue.mjs
//   GITHUB_TOKEN           a token that can write issues in the repository
//   GITHUB_REPOSITORY      owner/name
//   ESPALIER_EVENT_SECRET  the secret in the agent's --notify-secret-file
import { receive } from './receive.mjs'

const NEEDS_ATTENTION = ['Blocked', 'Failing', 'Invalid', 'OutOfSync']
const IS_FINE = ['Synced', 'Scheduled']

/** Writes names in a code block, where they cannot become mentions, links or markup. */
const block = (text) => ['```text', String(text).replaceAll('```', "'''"), '```'].join('\n')

/** A line in the body of an issue, by which the issue is found again. */
const marker = ({ subject }) => `<!-- espalier ${encodeURIComponent(subject)} -->`

export const issueOf = (event) => ({
  title: `${event.data.project.name ?? event.subject}: ${[event.data.state, event.data.reason].filter(Boolean).join(': ')}`,
  labels: ['espalier'],
  body: [
    marker(event),
    block(event.data.message ?? ''),
    ...(event.data.command ? ['To resolve it:', block(event.data.command)] : []),
    ...(event.data.differences ?? []).map(({ kind, compute = 'compute', branch, path = '', origin }) =>
      block(`${kind} ${compute} on ${branch} ${path} (${origin})`),
    ),
  ].join('\n\n'),
})

export const keepIssues =
  ({ token, repository, api = 'https://api.github.com' }) =>
  async (event) => {
    const { state } = event.data
    const call = async (method, path, body) => {
      const response = await fetch(`${api}/repos/${repository}/issues${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, accept: 'application/vnd.github+json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      if (!response.ok) throw new Error(`GitHub returned ${response.status} for ${method} issues${path}`)
      return response.json()
    }
    const open = await call('GET', '?labels=espalier&state=open&per_page=100')
    const own = open.find(({ body }) => body?.includes(marker(event)))
    if (NEEDS_ATTENTION.includes(state))
      return own === undefined ? call('POST', '', issueOf(event)) : call('PATCH', `/${own.number}`, issueOf(event))
    if (IS_FINE.includes(state) && own !== undefined) return call('PATCH', `/${own.number}`, { state: 'closed' })
  }

if (process.argv[1] === import.meta.filename) {
  const { GITHUB_TOKEN, GITHUB_REPOSITORY, ESPALIER_EVENT_SECRET, PORT = '8080' } = process.env
  receive({
    secret: ESPALIER_EVENT_SECRET,
    port: Number(PORT),
    handle: keepIssues({ token: GITHUB_TOKEN, repository: GITHUB_REPOSITORY }),
  })
}
