/** The environment of the programs that we start: ours, without keys. */

const SECRETS = new Set(['ESPALIER_API_KEY', 'NEON_API_KEY'])
/** How the runner hands the Action its inputs; two of them are keys. */
const INPUT = /^INPUT_/i

export const withoutSecrets = (env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !SECRETS.has(name.toUpperCase()) && !INPUT.test(name)))
