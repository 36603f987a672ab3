/** Reports problems with manifests: as annotations, in the summary and in the comment. */
import { type Diagnostic, hasErrors } from '../model/index.ts'
import { diagnosticAnnotations, problemComment, SUMMARY_LIMIT } from '../report/index.ts'
import { reportCheck } from './check-run.ts'
import { comment, type Ending, frameOf, type Job, pullRequestOf } from './job.ts'
import { updateLabels } from './labels.ts'

/** @param notes trusted Markdown, one sentence each. */
export const reportProblems = async (
  job: Job,
  diagnostics: readonly Diagnostic[],
  notes: readonly string[] = [],
): Promise<Ending> => {
  const kind = job.inputs.command === 'apply' ? 'outcome' : 'plan'
  const view = { ...frameOf(job, kind), diagnostics, notes }
  job.runner.summary(problemComment(view, SUMMARY_LIMIT))
  const isFailed = hasErrors(diagnostics)
  // Without problems, only update an existing comment, which would be out of date.
  const isNewComment = isFailed || job.inputs.comment === 'always'
  await comment(job, await pullRequestOf(job), kind, (limit) => problemComment(view, limit), {
    onlyUpdate: !isNewComment,
  })
  const ending: Ending = isFailed ? { isFailed, reason: 'validation-failed' } : { isFailed }
  if (isFailed) await updateLabels(job, undefined)
  const annotations = diagnosticAnnotations(diagnostics)
  const title = isFailed ? 'Errors in the manifests' : 'The manifests are valid'
  const isShown = await reportCheck(job, { ending, title, body: (limit) => problemComment(view, limit), annotations })
  if (!isShown) job.runner.annotate(annotations)
  return ending
}
