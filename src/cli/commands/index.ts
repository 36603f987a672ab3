/** Lists all commands. The file of a command is loaded only for that command, because it loads all that the command needs. */
import type { Entry } from '../command.ts'

export const COMMANDS: readonly Entry[] = [
  {
    command: 'init',
    summary: 'Start here: write your first manifests, editor settings, workflows and policies',
    load: async () => (await import('./init.ts')).initCommand,
  },
  {
    command: 'validate [paths..]',
    summary: 'Check manifests and report their problems, without network access or an API key',
    load: async () => (await import('./validate.ts')).validateCommand,
  },
  {
    command: 'plan [paths..]',
    summary: 'Show what would change and how connections would be affected, without changing anything',
    load: async () => (await import('./plan.ts')).planCommand,
  },
  {
    command: 'apply [paths..]',
    summary: 'Make a plan and apply it after confirmation, or apply a saved plan',
    load: async () => (await import('./apply.ts')).applyCommand,
  },
  {
    command: 'import',
    summary: 'Write or update manifests from live projects',
    load: async () => (await import('./import.ts')).importCommand,
  },
  {
    command: 'fmt [paths..]',
    summary: 'Format manifests offline: sort keys and normalize values, keeping comments and layout',
    load: async () => (await import('./fmt.ts')).fmtCommand,
  },
  {
    command: 'show <ref>',
    summary: 'Print a saved plan, or manifests with their defaults merged, without network access or an API key',
    load: async () => (await import('./show.ts')).showCommand,
  },
  {
    command: 'drift [paths..]',
    summary: 'Show how live projects differ from their manifests, and which of the two changed',
    load: async () => (await import('./drift.ts')).driftCommand,
  },
  {
    command: 'status [paths..]',
    summary: 'List live computes, and show whether they match the manifests',
    load: async () => (await import('./status.ts')).statusCommand,
  },
  {
    command: 'cost [paths..]',
    summary: 'Estimate the monthly cost, and show which changes would save the most',
    load: async () => (await import('./cost.ts')).costCommand,
  },
  {
    command: 'operations',
    summary: 'List, inspect and wait for control-plane operations',
    examples: [['$0 operations list', 'List the newest fifty operations']],
    notes: "In tables, statuses are named as in the service's console.",
    subcommands: [
      {
        command: 'list',
        summary: 'List operations, newest first',
        load: async () => (await import('./operations.ts')).listCommand,
      },
      {
        command: 'get <ref>',
        summary: 'Show one operation',
        load: async () => (await import('./operations.ts')).getCommand,
      },
      {
        command: 'wait <refs..>',
        summary: 'Wait for operations to end',
        load: async () => (await import('./operations.ts')).waitCommand,
      },
      {
        command: 'watch',
        summary: 'Show operations as they start and change, until Ctrl-C is pressed',
        load: async () => (await import('./operations.ts')).watchCommand,
      },
    ],
  },
  {
    command: 'compute',
    summary: 'Start, suspend, restart or delete individual computes',
    examples: [['$0 compute start staging', 'Wake the primary on staging']],
    notes: 'The next apply creates deleted computes again if they are declared without a pin.',
    subcommands: [
      {
        command: 'start <refs..>',
        summary: 'Wake idle computes',
        load: async () => (await import('./compute.ts')).startCommand,
      },
      {
        command: 'suspend <refs..>',
        summary: 'Suspend computes: existing connections end, and the next connection wakes them',
        load: async () => (await import('./compute.ts')).suspendCommand,
      },
      {
        command: 'restart <refs..>',
        summary: 'Restart active computes: existing connections drop',
        load: async () => (await import('./compute.ts')).restartCommand,
      },
      {
        command: 'delete <refs..>',
        summary: 'Delete computes: their hostnames are lost permanently',
        load: async () => (await import('./compute.ts')).deleteCommand,
      },
    ],
  },
  {
    command: 'snapshot [paths..]',
    summary: 'Save a snapshot of the live projects for planning offline',
    load: async () => (await import('./snapshot.ts')).snapshotCommand,
  },
  {
    command: 'explain [code]',
    summary: 'Explain a code such as E_SIZE, list all codes, or list the compute sizes',
    load: async () => (await import('./explain.ts')).explainCommand,
  },
  {
    command: 'agent',
    summary: 'Continuously keep projects in line with their manifests',
    examples: [
      ['$0 agent run --repo https://github.com/acme/db', 'Follow a repository'],
      ['$0 agent status', 'Show the state of each project'],
    ],
    notes: 'Each agent needs its own data folder (--data).',
    subcommands: [
      {
        command: 'run [paths..]',
        summary: 'Keep projects in line with their manifests until stopped',
        load: async () => (await import('./agent-run.ts')).runCommand,
      },
      {
        command: 'status [projects..]',
        summary: 'Show the state of each project, or every difference of named projects',
        load: async () => (await import('./agent.ts')).statusCommand,
      },
      {
        command: 'history [projects..]',
        summary: 'Show what the agent has changed, with the time, commit and impact of each change',
        load: async () => (await import('./agent.ts')).historyCommand,
      },
      {
        command: 'reconcile [projects..]',
        summary: 'Refresh projects now, retry rejected and failed changes, and show the result',
        load: async () => (await import('./agent.ts')).reconcileCommand,
      },
      {
        command: 'adopt [projects..]',
        summary: 'List differences of computes not seen in sync since they were declared; with --commit, adopt them',
        load: async () => (await import('./agent.ts')).adoptCommand,
      },
      {
        command: 'suspend [projects..]',
        summary:
          'Pause changes to projects for a period. The agent still reports differences and restores primaries that it removed',
        load: async () => (await import('./agent.ts')).suspendCommand,
      },
      {
        command: 'resume [projects..]',
        summary: 'End a suspension, so that the agent applies changes again',
        load: async () => (await import('./agent.ts')).resumeCommand,
      },
    ],
  },
  {
    command: 'sandbox',
    summary: 'Start a sandbox (an embedded control plane), or connect to one of its computes',
    examples: [
      ['$0 sandbox serve', 'Serve the control API on this machine'],
      ['$0 sandbox connect main --psql', 'Open psql on a compute of a running sandbox'],
    ],
    notes: 'To use a sandbox for a single command, pass --sandbox to that command.',
    subcommands: [
      {
        command: 'serve',
        summary: 'Serve the control API on this machine until Ctrl-C is pressed',
        load: async () => (await import('./sandbox-serve.ts')).serveCommand,
      },
      {
        command: 'connect <ref>',
        summary: 'Print a connection string for a compute of a running sandbox, or open psql',
        load: async () => (await import('./sandbox-connect.ts')).connectCommand,
      },
    ],
  },
  {
    command: 'completion <shell>',
    summary: 'Print the completion script for a shell',
    load: async () => (await import('./completion.ts')).completionCommand,
  },
]
