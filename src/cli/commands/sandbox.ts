import type { Command, ValuesOf } from '../command.ts'
import { number, text, toggle } from '../flag.ts'
import { MIN_TIME_SCALE } from '../flags.ts'

const PORT = { max: 65_535 } as const
const TIME_SCALE = { min: MIN_TIME_SCALE, isFractional: true } as const

export const serveCommand = {
  command: 'serve',
  summary: 'Serve the control API on this machine until Ctrl-C is pressed',
  flags: {
    port: number('', 'Port on 127.0.0.1; 0 picks a free one (default: 7788, or a free one if that is taken)', PORT),
    state: text('', 'Directory in which to keep the state (default: state is kept only in memory)', { value: 'DIR' }),
    seed: text('', 'File with the initial projects, branches and computes', { value: 'FILE' }),
    'time-scale': number('', 'How many times faster than real time the sandbox runs', TIME_SCALE),
    key: text('', 'API key that the sandbox accepts (default: a new key)', { value: 'KEY' }),
    faults: text('', 'File that lists the faults to inject', { value: 'FILE' }),
    'rate-limits': toggle(
      '',
      'Enforce the published rate limits by answering with 429: bursts of 700 requests, then 700 per minute, and 40 per second per route',
    ),
    computes: text('Computes:', 'Compute backend; auto uses postgres if it is installed, and simulated otherwise', {
      choices: ['auto', 'postgres', 'simulated'],
      default: 'auto',
    }),
    'pg-bin': text(
      'Computes:',
      'Folder that contains postgres and initdb (default: the newest installed version, else the npm package)',
      { value: 'DIR' },
    ),
    'pg-port': number(
      'Computes:',
      'Port that all computes share; 0 picks a free one (default: 7799, or a free one if that is taken)',
      PORT,
    ),
  },
  examples: [
    ['$0 sandbox serve --seed seed.yaml', 'Start with sample projects'],
    ['$0 sandbox serve --port 0 --state .espalier/sandbox', 'Use a free port and persistent state'],
  ],
  notes: `The first lines on stdout show the API URL and key, the URL and token of the sandbox's own API, and
the compute backend:
  API  http://127.0.0.1:PORT/api/v2
  Key  KEY
  Control  http://127.0.0.1:PORT/_sandbox  TOKEN
  Computes  Postgres 17.10, all on port 7799
The log follows.

Exit codes:
  0   stopped by SIGINT or SIGTERM
  1   wrong usage, an invalid seed, a port in use, or no Postgres with
      --computes postgres`,
} as const satisfies Command

export const connectCommand = {
  command: 'connect <ref>',
  summary: 'Print a connection string for a compute of a running sandbox, or open psql',
  positionals: {
    ref: { describe: 'A compute: its id, BRANCH for its primary, or BRANCH/REPLICA' },
  },
  flags: {
    psql: toggle('', 'Open psql'),
    pooled: toggle('', 'Connect through PgBouncer, in transaction mode'),
    port: number('', 'API port of the sandbox, needed if several sandboxes are running', PORT),
    project: text('', 'Only projects whose id or name matches this glob; repeatable', { value: 'GLOB', array: true }),
  },
  examples: [
    ['$0 sandbox connect main', 'Print a connection string for the primary on main'],
    ['$0 sandbox connect main --psql', 'Connect to the primary on main with psql'],
    ['psql "$($0 sandbox connect main/reporting)"', 'Connect to a replica'],
  ],
  notes: `An idle compute starts when a client connects.

Exit codes:
  0   the connection string was printed, or psql succeeded
  1   no such sandbox or compute, or psql failed`,
} as const satisfies Command

export const sandboxCommand: Command = {
  command: 'sandbox',
  summary: 'Serve the embedded control plane, or connect to its computes',
  flags: {},
  examples: [
    ['$0 sandbox serve', 'Serve the control API on this machine'],
    ['$0 sandbox connect main --psql', 'Open psql on a compute of a running sandbox'],
  ],
  notes: 'To run a sandbox inside another command, use plan --sandbox or apply --sandbox.',
}

export type ServeFlags = ValuesOf<typeof serveCommand>
export type ConnectFlags = ValuesOf<typeof connectCommand>
