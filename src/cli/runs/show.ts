import { EXIT, type ExitCode } from '../../model/index.ts'
import { jsonPlan, markdownPlan, plainText, terminalPlan } from '../../report/index.ts'
import { readPlanFile } from '../../workflow/index.ts'
import { print, styleOf } from '../terminal.ts'

export interface ShowFlags {
  readonly ref: string
  readonly format: string
  readonly noColor?: boolean | undefined
}

/** Stale or not: nothing is asked for but the file. */
export const runShow = async (flags: ShowFlags): Promise<ExitCode> => {
  const { plan, createdAt, espalier, manifests, shard } = await readPlanFile(flags.ref)
  if (flags.format === 'json') {
    print(jsonPlan(plan, shard === undefined ? {} : { shard }))
    return EXIT.ok
  }
  print(
    flags.format === 'markdown'
      ? markdownPlan(plan)
      : terminalPlan(plan, styleOf(process.stdout, flags), { now: new Date().toISOString() }),
  )
  const part = shard === undefined ? '' : `, shard ${shard}`
  const of = manifests === undefined ? part : ` of ${manifests.join(' ')}${part}`
  print(
    plainText(`Saved at ${createdAt} by espalier ${espalier}${of}. Whether it is stale, apply will tell.`),
    process.stderr,
  )
  return EXIT.ok
}
