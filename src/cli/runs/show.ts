import { jsonPlan } from '../../apply/index.ts'
import { plainText } from '../../base/index.ts'
import { EXIT, type ExitCode, type Plan } from '../../model/index.ts'
import { markdownPlan, minuteOf, terminalPlan } from '../../report/index.ts'
import { readSavedPlan } from '../../workflow/index.ts'
import type { ShowFlags } from '../commands/show.ts'
import { type Io, timeOf } from '../io.ts'
import { openPageOf, PAGE_FRAME } from '../page-file.ts'
import { print, styleOf } from '../terminal.ts'

/** Shows a saved plan. It only reads the file. Whether the plan is stale is checked by `apply`. */
export const runShow = async (flags: ShowFlags, io: Io): Promise<ExitCode> => {
  const page = await openPageOf(flags, io)
  const { file } = await readSavedPlan(flags.ref, io.locate(flags.ref))
  const { plan, createdAt, espalier, manifests } = file
  printPlan(plan, flags, io)
  if (page !== undefined) {
    const { planPage } = await import('../../report/html/index.ts')
    await page(planPage(plan, PAGE_FRAME))
  }
  if (flags.format === 'json') return EXIT.ok
  const of = manifests === undefined ? '' : ` of ${manifests.join(' ')}`
  print(
    plainText(
      `Saved at ${minuteOf(createdAt)} by espalier ${espalier}${of}. espalier apply checks whether it is stale.`,
    ),
    io.stderr,
  )
  return EXIT.ok
}

const printPlan = (plan: Plan, { format, detail, noColor }: ShowFlags, io: Io): void => {
  if (format === 'json') print(jsonPlan(plan), io.stdout)
  else if (format === 'markdown') print(markdownPlan(plan), io.stdout)
  else print(terminalPlan(plan, styleOf(io.stdout, { noColor }, io.env), { now: timeOf(io), detail }), io.stdout)
}
