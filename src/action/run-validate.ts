/** Manifests alone: no network but for the comment, no key. */
import { type Manifests, readManifests, seedNote } from '../workflow/index.ts'
import type { Ending, Job } from './job.ts'
import { reportProblems } from './problems.ts'
import { isStrangers, readStrangers } from './stranger.ts'

export const runValidate = async (job: Job): Promise<Ending> => {
  const strangers = isStrangers(job) ? await readStrangers(job) : undefined
  const { loaded }: Manifests = strangers?.head ?? (await readManifests(job.inputs.paths, { cwd: job.cwd }))
  for (const path of loaded.seeds) job.runner.print(seedNote(path))
  const ending = await reportProblems(job, [...loaded.diagnostics, ...(strangers?.refused ?? [])])
  if (!ending.isFailed) job.runner.print(`Valid: ${loaded.files.length} files.`)
  return ending
}
