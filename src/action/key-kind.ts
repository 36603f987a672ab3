/** Reports the kind of API key, so that reviewers see what the workflow has access to. */
import { type Job, withReadClient } from './job.ts'

const KINDS = {
  personal: 'It can write to every project of its owner. A project-scoped key is enough.',
  organization: 'It belongs to an organization. The service does not report whether it covers all projects or one.',
  unknown: 'The service does not report its kind.',
} as const

/** Writes the kind of key to the summary and to an output. Called at the end, so that it does not delay the plan. */
export const reportKeyKind = async (job: Job): Promise<void> => {
  const { runner, key } = job
  if (!key.isUsed) return
  const account = await withReadClient(job, (api) => api.account())
  const kind = account?.keyKind ?? 'unknown'
  runner.output('key-kind', kind)
  runner.summary(`<sub>API key: ${kind}. ${KINDS[kind]} No kind of key is read-only.</sub>`)
}
