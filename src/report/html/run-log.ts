/** The log of a step. */
import { time } from '../words/index.ts'
import type { Moment, StepRun } from './happened.ts'
import { type IconName, icon } from './looks.ts'
import { type Markup, markup, NOTHING } from './markup.ts'

export const runLog = ({ span, moments, outcome }: StepRun): Markup => {
  if (span === undefined) return NOTHING
  const end = outcome === undefined ? 'its end is unknown' : `ended: ${outcome.status}`
  return markup`<table class="log"><caption>What happened</caption><thead><tr><th scope="col">after</th><th scope="col">what</th></tr></thead><tbody>
<tr><td>${time(span.start)}</td><td>${icon('ring')}started</td></tr>
${moments.map((moment) => line(moment))}<tr><td>${time(span.end)}</td><td>${icon('ring')}${end}${outcome?.computeId === undefined ? '' : markup`, compute <code>${outcome.computeId}</code>`}</td></tr></tbody></table>`
}

const line = ({ at, event }: Moment): Markup => {
  const row = (
    name: IconName,
    words: Markup,
  ): Markup => markup`<tr><td>${time(at)}</td><td>${icon(name)}${words}</td></tr>
`
  switch (event.type) {
    case 'call':
      return row(
        'call',
        markup`<code>${event.method} ${event.path}</code>${event.attempt > 1 ? ` sent again, attempt ${event.attempt}` : ''}`,
      )
    case 'wait':
      return row('clock', markup`waits ${time(event.delayMs)} (${event.why}): ${event.message}`)
    case 'operation': {
      const { action, id, status, failuresCount } = event.operation
      const failures = failuresCount === 0 ? '' : `, ${failuresCount} ${failuresCount === 1 ? 'failure' : 'failures'}`
      return row('ring', markup`operation ${action}: <b>${status}</b>${failures} <code>${id}</code>`)
    }
  }
}
