import { jsonPlan } from '../../apply/index.ts'
import { EXIT, type ExitCode, type Plan } from '../../model/index.ts'
import { markdownPlan, minuteOf, plainText, terminalPlan } from '../../report/index.ts'
import { readSavedPlan } from '../../workflow/index.ts'
import type { ShowFlags } from '../commands/show.ts'
import { planViewOf, usageError } from '../flags.ts'
import { type Io, timeOf } from '../io.ts'
import { openPageOf, PAGE_FRAME } from '../page-file.ts'
import { print, styleOf } from '../terminal.ts'

/** Shows a saved plan. It only reads the file. Whether the plan is stale is checked by `apply`. */
export const runShow = async (flags: ShowFlags, io: Io): Promise<ExitCode> => {
  if (flags.out !== undefined && flags.format !== 'html') throw usageError('--out needs --format html.')
  const page = await openPageOf(flags, `show ${flags.ref}`, io)
  const { file } = await readSavedPlan(flags.ref, io.locate(flags.ref))
  const { plan, createdAt, espalier, manifests } = file
  if (flags.format === 'json') {
    print(jsonPlan(plan), io.stdout)
    return EXIT.ok
  }
  if (page === undefined) printPlan(plan, flags, io)
  else {
    const { planPage } = await import('../../report/html/index.ts')
    await page(planPage(plan, PAGE_FRAME))
  }
  const of = manifests === undefined ? '' : ` of ${manifests.join(' ')}`
  print(
    plainText(
      `Saved at ${minuteOf(createdAt)} by espalier ${espalier}${of}. espalier apply checks whether it is stale.`,
    ),
    io.stderr,
  )
  return EXIT.ok
}

const printPlan = (plan: Plan, flags: ShowFlags, io: Io): void =>
  print(
    flags.format === 'markdown'
      ? markdownPlan(plan)
      : terminalPlan(plan, styleOf(io.stdout, flags, io.env), { now: timeOf(io), ...planViewOf(flags) }),
    io.stdout,
  )
