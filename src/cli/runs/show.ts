import { jsonPlan } from '../../apply/index.ts'
import { EXIT, type ExitCode } from '../../model/index.ts'
import { markdownPlan, minuteOf, plainText, terminalPlan } from '../../report/index.ts'
import { readSavedPlan } from '../../workflow/index.ts'
import { type PlanViewFlags, planViewOf } from '../flags.ts'
import { type Io, timeOf } from '../io.ts'
import { print, styleOf } from '../terminal.ts'

export interface ShowFlags extends PlanViewFlags {
  readonly ref: string
  readonly format: string
  readonly resolved?: boolean | undefined
  readonly sizeTable?: string | undefined
  readonly noColor?: boolean | undefined
}

/** Needs nothing but the file: whether it is stale is for `apply` to check. */
export const runShow = async (flags: ShowFlags, io: Io): Promise<ExitCode> => {
  const { file } = await readSavedPlan(flags.ref, io.locate(flags.ref))
  const { plan, createdAt, espalier, manifests, shard } = file
  if (flags.format === 'json') {
    print(jsonPlan(plan, shard === undefined ? {} : { shard }), io.stdout)
    return EXIT.ok
  }
  print(
    flags.format === 'markdown'
      ? markdownPlan(plan)
      : terminalPlan(plan, styleOf(io.stdout, flags, io.env), { now: timeOf(io), ...planViewOf(flags) }),
    io.stdout,
  )
  const part = shard === undefined ? '' : `, shard ${shard}`
  const of = manifests === undefined ? part : ` of ${manifests.join(' ')}${part}`
  print(
    plainText(
      `Saved at ${minuteOf(createdAt)} by espalier ${espalier}${of}. espalier apply checks whether it is stale.`,
    ),
    io.stderr,
  )
  return EXIT.ok
}
