import { stat } from 'node:fs/promises'
import { jsonPlan } from '../../apply/index.ts'
import { EXIT, type ExitCode, plainJson, plainText, shellWord } from '../../base/index.ts'
import { resolvedManifests, resolvedText } from '../../manifest/index.ts'
import { hasErrors, type Plan } from '../../model/index.ts'
import { markdownPlan, minuteOf, terminalPlan } from '../../report/index.ts'
import { readSavedPlan } from '../../workflow/index.ts'
import { commandOf, type Description, type ValuesOf } from '../command.ts'
import { formatFlag, HTML_FLAG, PLAN_VIEW_FLAGS, toggle, usageError } from '../setup/flags.ts'
import { type Io, timeOf } from '../setup/io.ts'
import { readManifests } from '../setup/manifests.ts'
import { openPageOf } from '../terminal/page-file.ts'
import { printProblems } from '../terminal/report-problems.ts'
import { print, styleOf } from '../terminal/terminal.ts'

const DESCRIPTION = {
  positionals: { ref: { describe: 'A file that plan --out wrote. With --resolved, a manifest, directory or glob' } },
  flags: {
    format: formatFlag('Output format. With --resolved, only terminal (which prints YAML) and json are allowed', [
      'terminal',
      'json',
      'markdown',
    ]),
    ...HTML_FLAG,
    resolved: toggle(
      'Manifests:',
      'Show manifests with defaults, profiles and shared files merged, and where values come from',
    ),
    ...PLAN_VIEW_FLAGS,
  },
  examples: [
    ['$0 show plan.json', 'Show what espalier apply plan.json would do'],
    ['$0 show plan.json --html plan.html', 'Also write the plan as a page for any browser'],
    ['$0 show --resolved fleet/', 'Show resolved manifests, with the file that each value comes from'],
  ],
  notes: `Exit codes:
  0   shown
  1   not a saved plan, or another error
  4   the plan was edited after it was saved`,
} as const satisfies Description

type ShowFlags = ValuesOf<typeof DESCRIPTION>

export const showCommand = commandOf(DESCRIPTION, async (flags, io) =>
  flags.resolved === true ? showResolved(flags, io) : showSaved(flags, io),
)

/** Shows a saved plan. It only reads the file. Whether the plan is stale is checked by `apply`. */
const showSaved = async (flags: ShowFlags, io: Io): Promise<ExitCode> => {
  const page = await openPageOf(flags, io)
  const isFolder = (await stat(io.locate(flags.ref)).catch(() => undefined))?.isDirectory()
  if (isFolder === true || /\.ya?ml$/i.test(flags.ref)) {
    throw usageError(
      `${flags.ref} is not a saved plan, but may contain manifests.`,
      `To show resolved manifests, run \`espalier show --resolved ${shellWord(flags.ref)}\`.`,
    )
  }
  const { file } = await readSavedPlan(flags.ref, io.locate(flags.ref))
  const { plan, createdAt, espalier, manifests } = file
  printPlan(plan, flags, io)
  await page?.(({ planPage }, frame) => planPage(plan, frame))
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

const printPlan = (plan: Plan, flags: ShowFlags, io: Io): void => {
  const { format, detail } = flags
  if (format === 'json') print(jsonPlan(plan), io.stdout)
  else if (format === 'markdown') print(markdownPlan(plan), io.stdout)
  else print(terminalPlan(plan, styleOf(io.stdout, flags, io.env), { now: timeOf(io), detail }), io.stdout)
}

/** Prints manifests with profiles, rules and shared files merged, and the place that each value comes from. */
const showResolved = async (flags: ShowFlags, io: Io): Promise<ExitCode> => {
  if (flags.format === 'markdown' || flags.html !== undefined) {
    throw usageError(
      '`show --resolved` prints YAML or JSON to stdout.',
      'Use --format json, and redirect stdout to write a file.',
    )
  }
  const { loaded } = await readManifests([flags.ref], io)
  if (loaded.diagnostics.length > 0) {
    printProblems(loaded.diagnostics, flags, io, loaded.lineOf)
  }
  if (hasErrors(loaded.diagnostics)) return EXIT.error
  const resolved = resolvedManifests(loaded.desired)
  print(flags.format === 'json' ? plainJson(resolved, 2) : resolvedText(resolved).trimEnd(), io.stdout)
  return EXIT.ok
}
