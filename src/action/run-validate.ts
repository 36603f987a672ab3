/** Manifests alone: no network but for the comment, no key. */
import { readManifests } from '../workflow/index.ts'
import type { Ending, Job } from './job.ts'
import { reportProblems } from './problems.ts'

export const runValidate = async (job: Job): Promise<Ending> => {
  const { loaded } = await readManifests(job.inputs.paths, { cwd: job.cwd })
  const ending = await reportProblems(job, loaded.diagnostics)
  if (!ending.isFailed) job.runner.print(`Valid: ${loaded.files.length} files.`)
  return ending
}
