/** The order of steps as a Mermaid graph, which GitHub draws. */
import type { Plan } from '../../model/index.ts'
import { isDisruptive } from '../words/impacts.ts'
import { stepTitles } from '../words/names.ts'
import { mermaidText } from './text.ts'

/** A graph with more nodes is unreadable. */
const MOST_STEPS = 25

/** `undefined` if there is nothing to draw, or too much. */
export const stepGraph = (plan: Plan): string | undefined => {
  if (plan.steps.length < 2 || plan.steps.length > MOST_STEPS) return undefined
  const titleOf = stepTitles(plan)
  const numbers = new Map(plan.steps.map((step, index) => [step.id, index + 1]))
  const nodes = plan.steps.map((step, index) => {
    const label = `${index + 1}. ${titleOf(step)}`
    return `  s${index + 1}["${mermaidText(label)}"]${isDisruptive(step.impact) ? ':::loud' : ''}`
  })
  const last = new Map<string, number>()
  const edges = plan.steps.flatMap((step, index) => {
    // A project runs one step at a time, so each step waits for the previous one.
    const previous = last.get(step.project)
    last.set(step.project, index + 1)
    const waits = step.after.flatMap((id) => numbers.get(id) ?? [])
    const drawn = new Set([...(previous === undefined ? [] : [previous]), ...waits])
    return [...drawn].map((number) => `  s${number} --> s${index + 1}`)
  })
  return ['```mermaid', 'graph LR', ...nodes, ...edges, '  classDef loud stroke:#b35900,stroke-width:3px', '```'].join(
    '\n',
  )
}
