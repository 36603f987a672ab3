/** Lets git fetch with the token of the step, so that actions/checkout need not store one in the clone. */
import { isLoopback } from '../api/index.ts'
import { type Environment, githubTokenOf } from './inputs.ts'

/**
 * The environment variables with which git sends the token to the GitHub server, and to no other. It is sent instead of
 * a token that is stored in the clone, because GitHub rejects a request with two. Redirects of that server are not
 * followed: git would send the token along.
 */
export const gitLogin = (env: Environment): Readonly<Record<string, string>> => {
  const token = githubTokenOf(env)
  const server = env.GITHUB_SERVER_URL ?? ''
  if (token === '' || !URL.canParse(server)) return {}
  const { protocol, hostname, origin } = new URL(server)
  if (protocol !== 'https:' && !isLoopback(hostname)) return {}
  const header = `AUTHORIZATION: basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`
  const first = Number(env.GIT_CONFIG_COUNT ?? 0) || 0
  const settings = [
    ['extraheader', ''],
    ['extraheader', header],
    ['followRedirects', 'false'],
  ]
  const entries = settings.flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${first + index}`, `http.${origin}/.${name}`],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ])
  return { ...Object.fromEntries(entries), GIT_CONFIG_COUNT: String(first + settings.length) }
}
