import type { Command, ValuesOf } from '../command.ts'
import { text } from '../flag.ts'
import { CONNECTION_FLAGS, formatFlag, HTML_FLAG, PATHS } from '../flags.ts'

export const costCommand = {
  command: 'cost [paths..]',
  summary: 'Estimate the monthly cost, and show which changes would save the most',
  positionals: PATHS,
  flags: {
    project: text('', 'Projects whose id or name matches this glob, declared or not; repeatable', {
      value: 'GLOB',
      array: true,
    }),
    format: formatFlag('Output format', ['terminal', 'json', 'markdown']),
    ...HTML_FLAG,
    ...CONNECTION_FLAGS,
  },
  examples: [
    ['$0 cost', 'Show the cost of the declared projects, with the most expensive first'],
    ['$0 cost --project quiet-river-12345678', 'Show the cost of a project, which needs no manifest'],
    ['$0 cost --html cost.html', 'Also write a page for any browser'],
  ],
  notes: `Exit codes:
  0   estimated
  1   wrong input, or a project cannot be read, in which case the others are shown`,
} as const satisfies Command

export type CostFlags = ValuesOf<typeof costCommand>
