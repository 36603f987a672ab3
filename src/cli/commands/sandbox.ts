import type { Command } from '../command.ts'
import { defineCommand } from '../command.ts'

const serveCommand = defineCommand({
  command: 'serve',
  summary: 'Serve the control API on this machine, until Ctrl-C',
  flags: {
    port: { type: 'number', requiresArg: true, default: 7788, describe: 'Port on 127.0.0.1; 0 takes a free one' },
    state: { type: 'string', requiresArg: true, describe: 'Directory to keep its state in (default: memory only)' },
    seed: { type: 'string', requiresArg: true, describe: 'Projects, branches and computes to start from' },
    'time-scale': { type: 'number', requiresArg: true, describe: 'How many times faster than real time it runs' },
    key: {
      type: 'string',
      requiresArg: true,
      describe: 'The key it accepts (default: one made at the start; it opens this sandbox only)',
    },
  },
  examples: [
    ['$0 sandbox serve --seed seed.yaml', 'A project to play with'],
    ['$0 sandbox serve --port 0 --state .espalier/sandbox', 'A free port, state that survives'],
  ],
  notes: `The first two lines on stdout say where it listens and its key, then comes its log:
  API  http://127.0.0.1:PORT/api/v2
  Key  KEY

Exit codes:
  0   ended by SIGINT or SIGTERM
  1   wrong usage, a seed that cannot be used, or a port that is taken`,
  run: async (argv) => (await import('../runs/sandbox-serve.ts')).runSandboxServe(argv),
})

export const sandboxCommand: Command = {
  command: 'sandbox',
  summary: 'The embedded control plane',
  flags: {},
  subcommands: [serveCommand],
  examples: [['$0 sandbox serve', 'Serve it on this machine']],
  notes: 'To run one inside a command instead, give --sandbox to plan or apply.',
}
