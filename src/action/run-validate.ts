/** Manifests alone: no network but for the comment, no key. */
import { type Manifests, readManifests, seedNote } from '../workflow/index.ts'
import type { Ending, Job } from './job.ts'
import { reportProblems } from './problems.ts'
import { isUntrusted, readUntrusted } from './untrusted-pull-request.ts'

export const runValidate = async (job: Job): Promise<Ending> => {
  const untrusted = isUntrusted(job) ? await readUntrusted(job) : undefined
  const { loaded }: Manifests = untrusted?.head ?? (await readManifests(job.inputs.paths, { cwd: job.cwd }))
  for (const path of loaded.seeds) job.runner.print(seedNote(path))
  const ending = await reportProblems(job, [...loaded.diagnostics, ...(untrusted?.refused ?? [])])
  if (!ending.isFailed) job.runner.print(`Valid: ${loaded.files.length} files.`)
  return ending
}
