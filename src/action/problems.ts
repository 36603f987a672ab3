/** Reports problems in the manifests as annotations, in the summary and in the comment. */
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
  await publish(job, {
    kind,
    body: (limit) => problemComment(view, limit),
    // If there are no errors, only an existing comment is updated, and no new one is created.
    onlyUpdate: !isFailed,
    annotations: diagnosticAnnotations(diagnostics),
  })
  return isFailed ? 'validation-failed' : ''
}
