import type { Command, ValuesOf } from '../command.ts'
import { text, toggle } from '../flag.ts'
import { MANIFEST_FLAGS } from '../flags.ts'

export const sizesCommand = {
  command: 'sizes',
  summary: 'Print the table of compute sizes, with their CU, RAM, cache and max_connections',
  flags: {
    format: text('Output:', 'Output format; --size-table reads files in the json format', {
      choices: ['terminal', 'json'],
      default: 'terminal',
    }),
    tiers: toggle('Output:', 'Print the limits of the account plans instead, as JSON'),
    ...MANIFEST_FLAGS,
  },
  examples: [
    ['$0 sizes', 'Print the built-in table'],
    ['$0 sizes --format json > sizes.json', 'Write a starting point for your own table'],
  ],
  notes: `Exit codes:
  0   printed
  1   wrong usage, or the size table cannot be used`,
} as const satisfies Command

export type SizesFlags = ValuesOf<typeof sizesCommand>
