/** Codes that the sandbox uses. */
import type { Explanation } from './explanation.ts'

export const SANDBOX: Readonly<Record<string, Explanation>> = {
  E_FAULTS: {
    rule: 'A fault file must contain a list of the faults to inject.',
    mistake: '- { on: request, effect: lock }',
    correction: '- { on: request, effect: { kind: lock } }',
    wayOut: 'docs/sandbox.md describes all faults.',
  },
  E_NO_SANDBOX: {
    rule: 'The command needs a running sandbox.',
    mistake: 'espalier sandbox connect main',
    correction: 'espalier sandbox serve &\nespalier sandbox connect main',
    wayOut: 'Start one with espalier sandbox serve.',
  },
  E_POSTGRES: {
    rule: 'Real computes need an installation of Postgres 14 or newer.',
    example: '--pg-bin /usr/lib/postgresql/17/bin',
    wayOut: 'Install Postgres, or use --computes simulated.',
  },
  E_POSTGRES_ROOT: {
    rule: 'Postgres cannot run as root.',
    example: 'a container that runs as root',
    wayOut: 'Run the sandbox as another user.',
  },
  E_POSTGRES_VERSION: {
    rule: 'Only the major version of Postgres that created a data directory can open it.',
    example: '--pg-bin names Postgres 17, and the data was created by Postgres 16',
    wayOut: 'Use that version of Postgres, or delete the data.',
  },
  E_PSQL: {
    rule: '--psql requires the psql program.',
    example: 'psql "$(espalier sandbox connect main)"',
    wayOut: 'Install psql, or use another client.',
  },
  E_SANDBOX_BRANCH: {
    rule: 'createBranch can create only branches that the API would allow.',
    example: 'createBranch({ parent: main })',
    wayOut: 'The message gives the reason.',
  },
  E_SANDBOX_PORT: {
    rule: 'The sandbox must be able to listen on the given port.',
    mistake: 'espalier sandbox serve --port 80',
    correction: 'espalier sandbox serve --port 0   # any free port',
    wayOut: 'Choose another port.',
  },
  E_SANDBOX_STATE: {
    rule: 'A state folder must be writable, and only one sandbox can use it at a time.',
    mistake: 'espalier sandbox serve --state state &\nespalier sandbox serve --state state',
    correction: 'espalier sandbox serve --state state &\nespalier sandbox serve --state other',
    wayOut:
      'Use the sandbox that is already running, by setting ESPALIER_BASE_URL and ESPALIER_API_KEY. Otherwise stop it, or name another folder.',
  },
  E_SANDBOX_WORLD: {
    rule: 'Only a dump that a sandbox produced can be loaded.',
    example: 'GET /_sandbox/world',
    wayOut: 'Use the response of GET /_sandbox/world.',
  },
  E_SEED: {
    rule: 'A seed must describe a state that could be created through the API.',
    example: 'examples/quickstart/seed.yaml',
    wayOut: 'docs/sandbox.md describes the format.',
  },
  E_SIMULATED: {
    rule: 'SQL can be run only on real computes, not on simulated ones.',
    mistake: 'espalier sandbox serve --computes simulated &\nespalier sandbox connect main',
    correction: 'espalier sandbox serve --computes postgres &\nespalier sandbox connect main',
    wayOut: 'Start the sandbox with --computes postgres.',
  },
}
