/** The order of the steps, as a list and as a Mermaid graph, which GitHub draws. */
import { counted } from '../../base/index.ts'
import type { Plan } from '../../model/index.ts'
import { impactWords, isDisruptive } from '../words/impacts.ts'
import { numberedSteps, type PlanNames, planNames } from '../words/names.ts'
import { folded, literal, mermaidText } from './text.ts'

/** A graph with more nodes than this is unreadable. */
const MOST_STEPS = 25

export const stepsPart = (plan: Plan, withGraph: boolean): readonly string[] => {
  if (plan.steps.length === 0) return []
  const names = planNames(plan)
  const lines = plan.steps.map(
    (step, index) =>
      `${index + 1}. ${literal(names.step(step))}${isDisruptive(step.impact) ? `: **${impactWords(step)}**` : ''}`,
  )
  const graph = withGraph ? stepGraph(plan, names) : undefined
  const text = `${graph === undefined ? '' : `${graph}\n\n`}${lines.join('\n')}`
  return [folded(`Order of ${counted(plan.steps.length, 'step')}`, text)]
}

/** `undefined` if there is nothing to draw, or too much for one graph. */
const stepGraph = (plan: Plan, names: PlanNames): string | undefined => {
  if (plan.steps.length < 2 || plan.steps.length > MOST_STEPS) return undefined
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
