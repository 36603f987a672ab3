/** Merges the plans of a fleet's shards into one comment and one set of outputs. Does not need an API key. */
import { glob } from 'tinyglobby'
import { jsonPlan } from '../apply/index.ts'
import { defined } from '../base/index.ts'
import { EspalierError } from '../model/index.ts'
import { originOf } from '../planner/index.ts'
import { mergePresentPlans } from '../workflow/index.ts'
import type { Ending, Job } from './job.ts'
import { introducerOf, setOutputs, showPlan } from './run-plan.ts'
import { stepFiles, writeFile } from './step-files.ts'

const NO_BASE = 'The plans were made without a base, so existing drift is shown as introduced.'

export const runMerge = async (job: Job): Promise<Ending> => {
  const { inputs, runner, cwd } = job
  if (inputs.planFile === '') {
    throw new EspalierError('E_INPUT', 'The command merge requires the input plan-file.', {
      hint: 'Give the JSON plans of all shards, as files or globs: plans/*.json',
    })
  }
  const patterns = inputs.planFile.split(/\s+/)
  const paths = (await glob(patterns, { cwd, absolute: true, expandDirectories: false })).sort()
  if (paths.length === 0) {
    throw new EspalierError('E_MERGE', `There is no plan at ${inputs.planFile}.`, {
      hint: 'Check the input plan-file, and whether the jobs that plan the shards failed.',
    })
  }
  const { plan, origin, missing, createdAt } = await mergePresentPlans(paths)
  const introducedBy = introducerOf(job)
  // If the plans of some shards were missing, the outputs would be misleading.
  if (missing.length === 0) {
    setOutputs(job, plan, introducedBy === undefined ? plan.changes.length : origin?.drift.length)
    if (origin !== undefined) runner.output('introduced', origin.introduced.length)
    const path = stepFiles(job).view
    await writeFile(path, jsonPlan(plan, defined({ origin })))
    runner.output('json-plan-path', path)
  }
  return showPlan(job, {
    plan,
    origin: origin ?? originOf(undefined, plan),
    notes: introducedBy !== undefined && origin === undefined ? [NO_BASE] : [],
    missing,
    ...defined({ takenAt: createdAt, introducedBy }),
  })
}
