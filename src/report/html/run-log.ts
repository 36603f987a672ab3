/** The log of what happened while a step ran. */
import { counted, time } from '../words/counts.ts'
import type { Moment, StepRun } from './happened.ts'
import { type IconName, icon } from './looks.ts'
import { type Markup, markup, NOTHING, type Value } from './markup.ts'

export const runLog = ({ span, moments, outcome }: StepRun): Markup => {
  if (span === undefined) return NOTHING
  const end = outcome === undefined ? 'end unknown' : `ended: ${outcome.status}`
  const compute = outcome?.computeId === undefined ? '' : markup`, compute <code>${outcome.computeId}</code>`
  return markup`<table class="log"><caption>What happened</caption><thead><tr><th scope="col">after</th><th scope="col">what</th></tr></thead><tbody>
${row(span.start, 'ring', 'started')}${moments.map(momentRow)}${row(span.end, 'ring', [end, compute])}</tbody></table>`
}

const row = (
  at: number,
  name: IconName,
  words: Value,
): Markup => markup`<tr><td>${time(at)}</td><td>${icon(name)}${words}</td></tr>
`

const momentRow = ({ at, event }: Moment): Markup => {
  switch (event.type) {
    case 'call': {
      const again = event.attempt > 1 ? `, attempt ${event.attempt}` : ''
      return row(at, 'call', markup`<code>${event.method} ${event.path}</code>${again}`)
    }
    case 'wait':
      return row(at, 'clock', `waits ${time(event.delayMs)} (${event.why}): ${event.message}`)
    case 'operation': {
      const { action, id, status, failuresCount } = event.operation
      const failures = failuresCount === 0 ? '' : `, ${counted(failuresCount, 'failure')}`
      return row(at, 'ring', markup`operation ${action}: <b>${status}</b>${failures} <code>${id}</code>`)
    }
  }
}
