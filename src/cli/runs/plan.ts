import { writeFile } from 'node:fs/promises'
import { createReadApi } from '../../api/index.ts'
import { encodePlanFile } from '../../apply/index.ts'
import { EspalierError, EXIT, type ExitCode, hasErrors, isEmptyPlan, type Plan } from '../../model/index.ts'
import { jsonPlan, markdownPlan, terminalPlan } from '../../report/index.ts'
import { type ApiFlags, connect } from '../connect.ts'
import { type Manifests, readManifests } from '../manifests.ts'
import { type Look, look } from '../observe.ts'
import { reportProblems } from '../report-problems.ts'
import { print, styleOf } from '../terminal.ts'
import { VERSION } from '../version.ts'

export interface PlanFlags extends ApiFlags {
  readonly paths: readonly string[]
  readonly format: string
  readonly sizeTable?: string | undefined
  readonly out?: string | undefined
  readonly detailedExitcode?: boolean | undefined
  readonly noEstimate?: boolean | undefined
  readonly noColor?: boolean | undefined
}

export const runPlan = async (flags: PlanFlags): Promise<ExitCode> => {
  const manifests = await readManifests(flags.paths, flags.sizeTable)
  if (hasErrors(manifests.loaded.diagnostics)) {
    reportProblems(manifests.loaded.diagnostics, manifests.loaded, flags)
    return EXIT.error
  }
  const seen = await observe(manifests, flags)
  if (!seen.result.ok) {
    reportProblems([...manifests.loaded.diagnostics, ...seen.result.diagnostics], manifests.loaded, flags)
    return EXIT.error
  }
  const { plan } = seen.result
  // Warnings of the manifests alone are no part of the plan.
  if (manifests.loaded.diagnostics.length > 0 && flags.format === 'terminal') {
    reportProblems(manifests.loaded.diagnostics, manifests.loaded, flags)
  }
  print(render(plan, seen, flags))
  if (flags.out !== undefined) await save(flags.out, plan, seen, manifests)
  return flags.detailedExitcode === true && !isEmptyPlan(plan) ? EXIT.changes : EXIT.ok
}

const observe = async (manifests: Manifests, flags: PlanFlags): Promise<Look> => {
  const connection = await connect(flags)
  const api = createReadApi(connection.options)
  try {
    return await look(api, manifests, { concurrency: flags.concurrency, estimate: flags.noEstimate !== true })
  } finally {
    await api.close()
    await connection.close()
  }
}

const render = (plan: Plan, { observed }: Look, flags: PlanFlags): string => {
  if (flags.format === 'json') return jsonPlan(plan)
  if (flags.format === 'markdown') return markdownPlan(plan)
  return terminalPlan(plan, styleOf(process.stdout, flags), { takenAt: observed.takenAt })
}

const save = async (file: string, plan: Plan, { observed }: Look, { loaded, paths }: Manifests): Promise<void> => {
  const text = encodePlanFile({
    plan,
    observed,
    manifestDigest: loaded.digest,
    manifests: paths,
    espalierVersion: VERSION,
    createdAt: new Date().toISOString(),
  })
  await writeFile(file, text).catch((cause: NodeJS.ErrnoException) => {
    throw new EspalierError('E_OUT', `The plan cannot be written to ${file} (${cause.code ?? cause.message}).`, {
      cause,
    })
  })
  print(`Saved to ${file}. To apply exactly this: espalier apply ${file}`, process.stderr)
}
