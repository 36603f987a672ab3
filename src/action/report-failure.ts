/** Reports that a run failed. The report replaces the one from an earlier run. */
import { defined, EspalierError, messageOf, plainText } from '../base/index.ts'
import { type Diagnostic, hasErrors } from '../model/index.ts'
import { diagnosticAnnotations, failureComment, problemComment, SUMMARY_LIMIT } from '../report/index.ts'
import { type FailureReason, reasonOfError } from './failure.ts'
import { GitHubError } from './github.ts'
import { type Ending, frameOf, type Job } from './job.ts'
import { publish } from './publish.ts'
import type { Runner } from './runner.ts'

/** Reports an error as an annotation. */
export const annotateError = (runner: Runner, error: unknown): void => {
  if (error instanceof EspalierError) {
    runner.error(error.code, plainText(error.hint === undefined ? error.message : `${error.message} ${error.hint}`))
  } else {
    runner.error(
      'Bug',
      `This is a bug in espalier: ${messageOf(error)}. Please report it in the project's issue tracker.`,
    )
  }
}

/**
 * Reports the failure in the summary and in an existing comment. If there is no comment, one is created only with
 * `comment: always`.
 */
export const reportFailure = async (job: Job, error: unknown): Promise<FailureReason> => {
  const reason = reasonOfError(error)
  const kind = job.inputs.command === 'apply' ? 'outcome' : 'plan'
  const view = {
    ...frameOf(job, kind),
    what: kind === 'outcome' ? 'apply' : 'plan',
    reason,
    ...wordsOf(error),
    ...runAddress(job),
  }
  job.runner.summary(failureComment(view, SUMMARY_LIMIT))
  try {
    await publish(job, {
      kind,
      body: (limit) => failureComment(view, limit),
      onlyUpdate: true,
      annotations: [],
    })
  } catch (second) {
    if (!(second instanceof EspalierError) && !(second instanceof GitHubError)) throw second
    // The step must end with the original failure, so this second one only causes a warning.
    job.runner.warning(`The comment could not be updated. ${second.message}`)
  }
  return reason
}

/** The words to publish. The message of a bug is written only to the log, where the runner masks secrets. */
const wordsOf = (error: unknown): { readonly code: string; readonly message: string; readonly hint?: string } =>
  error instanceof EspalierError
    ? { code: error.code, message: error.message, ...defined({ hint: error.hint }) }
    : { code: 'Bug', message: 'This is a bug in espalier: see the log for its message.' }

const runAddress = ({ env, event }: Job): { readonly run?: string } => {
  const { GITHUB_SERVER_URL: server = '', GITHUB_RUN_ID: id = '' } = env
  const isKnown = URL.canParse(server) && /^\d+$/.test(id) && event.repository !== ''
  return isKnown ? { run: `${server}/${event.repository}/actions/runs/${id}` } : {}
}

// Reports problems in the manifests as annotations, in the summary and in the comment.

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
