/** What is wrong with the manifests: on their lines, in the summary and in the comment. */
import { type Diagnostic, hasErrors } from '../model/index.ts'
import { diagnosticAnnotations, problemComment, SUMMARY_LIMIT } from '../report/index.ts'
import { comment, type Ending, frameOf, type Job, pullRequestOf } from './job.ts'

/** @param notes Markdown of our own, a sentence each. */
export const reportProblems = async (
  job: Job,
  diagnostics: readonly Diagnostic[],
  notes: readonly string[] = [],
): Promise<Ending> => {
  job.runner.annotate(diagnosticAnnotations(diagnostics))
  const kind = job.inputs.command === 'apply' ? 'outcome' : 'plan'
  const view = { ...frameOf(job, kind), diagnostics, notes }
  job.runner.summary(problemComment(view, SUMMARY_LIMIT))
  const isFailed = hasErrors(diagnostics)
  // A comment of an earlier run, which may hold a plan or other problems, must not be next to this one's result.
  const isWorthSaying = isFailed || job.inputs.comment === 'always'
  await comment(job, await pullRequestOf(job), kind, (limit) => problemComment(view, limit), {
    onlyUpdate: !isWorthSaying,
  })
  return isFailed ? { isFailed, reason: 'validation-failed' } : { isFailed }
}
