/** The environment for child processes: that of this process without secrets. */

const SECRETS = new Set(['ESPALIER_API_KEY', 'NEON_API_KEY'])
/** Inputs of the Action. Two of them are keys. */
const INPUT = /^INPUT_/i

export const withoutSecrets = (env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !SECRETS.has(name.toUpperCase()) && !INPUT.test(name)))
