import { jsonPlan } from '../../apply/index.ts'
import { defined } from '../../base/index.ts'
import { EXIT, type ExitCode } from '../../model/index.ts'
import { originOf } from '../../planner/index.ts'
import { planComment, terminalPlan } from '../../report/index.ts'
import { type Merged, mergePlanFiles } from '../../workflow/index.ts'
import type { MergeFlags } from '../commands/report.ts'
import { type Io, timeOf } from '../io.ts'
import { print, styleOf } from '../terminal.ts'

export const runReportMerge = async (flags: MergeFlags, io: Io): Promise<ExitCode> => {
  print(render(await mergePlanFiles(flags.refs.map(io.locate)), flags, io), io.stdout)
  return EXIT.ok
}

/** Identifies the comment, so that a later run can edit it. */
const MARKER = '<!-- espalier plan of a fleet -->'

const render = ({ plan, origin, createdAt }: Merged, flags: MergeFlags, io: Io): string => {
  if (flags.format === 'json') return jsonPlan(plan, defined({ origin }))
  if (flags.format === 'markdown') {
    return planComment({
      marker: MARKER,
      plan,
      origin: origin ?? originOf(undefined, plan),
      ...defined({ introducedBy: origin && ('this pull request' as const), takenAt: createdAt }),
      notes: [],
      whole: 'the plans of the shards',
    })
  }
  return terminalPlan(plan, styleOf(io.stdout, flags, io.env), {
    now: timeOf(io),
    ...defined({ takenAt: createdAt, since: origin && { ref: origin.base.slice(0, 12), origin } }),
  })
}
