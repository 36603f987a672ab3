/** Reports problems with manifests: as annotations, in the summary and in the comment. */
import { type Diagnostic, hasErrors } from '../model/index.ts'
import { diagnosticAnnotations, problemComment, SUMMARY_LIMIT } from '../report/index.ts'
import { type Ending, frameOf, type Job } from './job.ts'
import { publish } from './publish.ts'

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
  const ending: Ending = isFailed ? 'validation-failed' : ''
  await publish(job, {
    kind,
    ending,
    title: isFailed ? 'Errors in the manifests' : 'The manifests are valid',
    body: (limit) => problemComment(view, limit),
    // Without problems, there is no new comment: only an existing one is updated.
    onlyUpdate: !isFailed,
    annotations: diagnosticAnnotations(diagnostics),
  })
  return ending
}
