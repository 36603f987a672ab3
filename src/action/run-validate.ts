/** Validates manifests. Does not need an API key. */
import { hasErrors } from '../model/index.ts'
import { checkOffline, fileNotes, type Manifests, readManifests, withReview } from '../workflow/index.ts'
import { reportApproval } from './approval-status.ts'
import { isSameContent } from './base.ts'
import type { Ending, Job } from './job.ts'
import { reportProblems } from './report-failure.ts'
import { findBase, setProjects } from './run-plan.ts'
import { isUntrusted, readUntrusted } from './untrusted-pull-request.ts'

export const runValidate = async (job: Job): Promise<Ending> => {
  const untrusted = isUntrusted(job) ? await readUntrusted(job) : undefined
  const manifests: Manifests =
    untrusted?.head ?? (await readManifests(job.inputs.paths, { cwd: job.cwd, policyPaths: job.inputs.policy }))
  const { loaded } = manifests
  for (const note of fileNotes(manifests)) job.runner.print(note)
  // An untrusted pull request is checked against the policies on its base, which it cannot change.
  const review = untrusted === undefined ? manifests.review : untrusted.base.review
  const reviewed = await withReview({ ...manifests, review: review ?? {} }, job.inputs, { env: job.env })
  const isRead = !hasErrors(loaded.diagnostics)
  const base = isRead ? (await findBase(job, manifests, untrusted))?.manifests : undefined
  const checked = isRead ? checkOffline(reviewed, base).diagnostics : []
  const ending = await reportProblems(job, [...loaded.diagnostics, ...checked, ...(untrusted?.refused ?? [])])
  if (isRead) setProjects(job, manifests, base)
  if (base !== undefined) {
    const isSame = isSameContent(base, manifests)
    job.runner.output('has-changes', !isSame)
    if (ending === '') await reportApproval(job, isSame ? [] : undefined)
  }
  if (ending === '') job.runner.print(`Valid: ${loaded.files.length} files.`)
  return ending
}
