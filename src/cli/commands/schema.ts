import { defineCommand } from '../command.ts'

export const schemaCommand = defineCommand({
  command: 'schema <name>',
  summary: 'Print the JSON Schema of a manifest, a plan, a saved plan or an event',
  positionals: { name: { describe: 'Which schema', choices: ['manifest', 'plan', 'plan-file', 'event'] } },
  flags: {},
  examples: [['$0 schema manifest > manifest.schema.json', 'For an editor']],
  notes: `Exit codes:
  0   printed
  1   wrong usage`,
  run: async (argv, io) => (await import('../runs/schema.ts')).runSchema(argv, io),
})
