/** Shows the order of steps as a Mermaid graph, which GitHub draws. */

import type { Plan } from '../../model/index.ts'
import { isDisruptive } from '../words/impacts.ts'
import { planNames } from '../words/names.ts'
import { numberedSteps } from '../words/numbered-steps.ts'
import { mermaidText } from './text.ts'

/** A graph with more nodes than this is unreadable. */
const MOST_STEPS = 25

/** `undefined` if there is nothing to draw, or too much for one graph. */
export const stepGraph = (plan: Plan): string | undefined => {
  if (plan.steps.length < 2 || plan.steps.length > MOST_STEPS) return undefined
  const names = planNames(plan)
  const steps = numberedSteps(plan)
  const nodes = steps.map(({ step, number }) => {
    const label = mermaidText(`${number}. ${names.step(step)}`)
    return `  s${number}["${label}"]${isDisruptive(step.impact) ? ':::loud' : ''}`
  })
  const last = new Map<string, number>()
  const edges = steps.flatMap(({ step, number, waitsFor }) => {
    // A project runs one step at a time, so each step also waits for the previous step.
    const previous = last.get(step.project)
    last.set(step.project, number)
    const drawn = new Set([...(previous === undefined ? [] : [previous]), ...waitsFor])
    return [...drawn].map((from) => `  s${from} --> s${number}`)
  })
  return ['```mermaid', 'graph LR', ...nodes, ...edges, '  classDef loud stroke:#b35900,stroke-width:3px', '```'].join(
    '\n',
  )
}
