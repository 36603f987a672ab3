/** Creates a check run with all annotations, because GitHub shows at most ten annotations per level for a step. */
import { type Annotation, COMMENT_LIMIT, type Limit } from '../report/index.ts'
import type { CheckRun } from './github.ts'
import { masked } from './inputs.ts'
import type { Ending, Job } from './job.ts'
import { withGitHub } from './with-github.ts'

/** The most annotations that GitHub accepts in one request. */
const MOST_ANNOTATIONS = 50

const LIMIT: Limit = { ...COMMENT_LIMIT, most: COMMENT_LIMIT.most - 1 }

export interface Checked {
  readonly ending: Ending
  readonly title: string
  readonly body: (limit: Limit) => string
  readonly annotations: readonly Annotation[]
}

const CREATE = { warning: 'No check run was made', permission: 'checks: write' }

/** @returns whether a check run was created. If not, the annotations have to be written to the log. */
export const reportCheck = async (job: Job, { ending, title, body, annotations }: Checked): Promise<boolean> => {
  const { inputs, event, prefix } = job
  if (!inputs.checkRun || event.sha === '') return false
  const placed = annotations.flatMap(({ level, title: about, message, file, line = 1 }) =>
    file === undefined
      ? []
      : [
          {
            path: `${prefix}${file}`,
            start_line: line,
            end_line: line,
            annotation_level: level === 'error' ? ('failure' as const) : level,
            title: masked(inputs, about),
            message: masked(inputs, message),
          },
        ],
  )
  const output = { title, summary: masked(inputs, body(LIMIT)) }
  const run: CheckRun = {
    name: inputs.label === '' ? 'Espalier' : `Espalier ${inputs.label}`,
    head_sha: event.sha,
    status: 'completed',
    conclusion: ending === '' ? 'success' : 'failure',
    output: { ...output, annotations: placed.slice(0, MOST_ANNOTATIONS) },
  }
  const done = await withGitHub(job, CREATE, async (github) => {
    const id = await github.createCheckRun(run)
    for (let from = MOST_ANNOTATIONS; from < placed.length; from += MOST_ANNOTATIONS) {
      await github.annotateCheckRun(id, { ...output, annotations: placed.slice(from, from + MOST_ANNOTATIONS) })
    }
    return true
  })
  return done === true
}
