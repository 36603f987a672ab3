/** Adds labels to a pull request that say what its plan does. */
import { isEmptyPlan, type Plan } from '../model/index.ts'
import type { Job } from './job.ts'
import { withGitHub } from './with-github.ts'

const UPDATE = { warning: 'The labels were not updated', permission: 'pull-requests: write' }

/**
 * Adds the labels that apply, and removes the labels that do not.
 *
 * @param plan `undefined` if planning failed. In that case, only the label for an empty plan is removed.
 */
export const updateLabels = async (job: Job, plan: Plan | undefined): Promise<void> => {
  const { inputs, event } = job
  const { labelRestart: restart, labelDelete: deletes, labelNone: none } = inputs
  const issue = event.pullRequest?.number
  if (issue === undefined || (restart === '' && deletes === '' && none === '')) return
  const states: readonly (readonly [name: string, isTrue: boolean])[] =
    plan === undefined
      ? [[none, false]]
      : [
          [restart, plan.summary.restarts + plan.summary.mayRestart > 0],
          [deletes, plan.summary.delete + plan.summary.replace > 0],
          [none, isEmptyPlan(plan) && plan.leftOut === undefined],
        ]
  const named = states.filter(([name]) => name !== '')
  await withGitHub(job, UPDATE, async (github) => {
    const present = new Set((await github.labels(issue)).map((name) => name.toLowerCase()))
    // Several states may have the same label.
    const wanted = new Set(named.flatMap(([name, isTrue]) => (isTrue ? [name] : [])))
    const added = [...wanted].filter((name) => !present.has(name.toLowerCase()))
    if (added.length > 0) await github.addLabels(issue, added)
    for (const name of new Set(named.map(([one]) => one))) {
      if (!wanted.has(name) && present.has(name.toLowerCase())) await github.removeLabel(issue, name)
    }
  })
}
