/** Manifests alone: no network but for the comment, no key. */
import { fileNotes, type Manifests, readManifests } from '../workflow/index.ts'
import type { Ending, Job } from './job.ts'
import { reportProblems } from './problems.ts'
import { isUntrusted, readUntrusted } from './untrusted-pull-request.ts'

export const runValidate = async (job: Job): Promise<Ending> => {
  const untrusted = isUntrusted(job) ? await readUntrusted(job) : undefined
  const manifests: Manifests = untrusted?.head ?? (await readManifests(job.inputs.paths, { cwd: job.cwd }))
  const { loaded } = manifests
  for (const note of fileNotes(manifests)) job.runner.print(note)
  const ending = await reportProblems(job, [...loaded.diagnostics, ...(untrusted?.refused ?? [])])
  if (!ending.isFailed) job.runner.print(`Valid: ${loaded.files.length} files.`)
  return ending
}
