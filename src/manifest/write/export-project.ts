/** Writes a manifest for a live project, as a person would write it. */
import { Document } from 'yaml'
import { globMatches, plainText } from '../../base/index.ts'
import { byBranch, type ObservedProject } from '../../model/index.ts'
import type { Written } from './attributes.ts'
import { bodyOf, computesOf, refOf, shapeOf } from './branch-shape.ts'
import { compactBelow, toText } from './style.ts'
import { type InferredRule, takeDefaults, takeRules } from './suggestions.ts'

export interface ExportOptions {
  /** Globs for branch names. Default: all branches. */
  readonly branches?: readonly string[]
  /** Pins every compute by its id. */
  readonly pin: boolean
  /** Path of the schema, relative to the file. */
  readonly schema: string
}

export interface Exported {
  readonly text: string
  /** What manifests cannot express, one sentence each. */
  readonly leftOut: readonly string[]
  /** What the text contains beyond live values, and why: one sentence each. */
  readonly inferred: readonly string[]
  readonly rules: readonly InferredRule[]
  /** Number of declared computes. */
  readonly computes: number
}

export const isChosen = (branch: string, { branches }: Pick<ExportOptions, 'branches'>): boolean =>
  branches === undefined || branches.some((pattern) => globMatches(pattern, branch))

export const exportProject = (project: ObservedProject, options: ExportOptions): Exported => {
  const chosen = project.branches.filter(({ name }) => isChosen(name, options)).toSorted(byBranch)
  const shapes = chosen.map((branch) => shapeOf(branch, project.computes, { pin: options.pin, taken: new Set() }))
  const declared = shapes.filter((shape) => computesOf(shape).length > 0)
  const { rules, listed } = takeRules(declared, project, {
    pin: options.pin,
    isChosen: (branch) => isChosen(branch, options),
  })
  const { defaults, rest, rules: ruleBodies, reasons } = takeDefaults(listed, rules)
  const bare = shapes.length - declared.length
  const leftOut = [
    ...shapes.flatMap((shape) => shape.leftOut),
    ...(bare > 0 ? [`${bare} ${bare === 1 ? 'branch has' : 'branches have'} no compute to declare`] : []),
  ]

  const root: Written = new Map(Object.entries({ version: 1, project: project.id }))
  if (defaults.size > 0) root.set('defaults', defaults)
  if (rest.length > 0) root.set('branches', new Map(rest.map((shape) => [refOf(shape.branch), bodyOf(shape)])))
  if (ruleBodies.length > 0) root.set('rules', ruleBodies)
  return {
    text: render(root, options.schema, leftOut),
    leftOut,
    inferred: [...reasons, ...rules.map(({ reason }) => reason)],
    rules,
    computes: listed.flatMap(computesOf).length + rules.reduce((sum, { branches }) => sum + branches, 0),
  }
}

const render = (root: Written, schema: string, leftOut: readonly string[]): string => {
  const document = new Document(root)
  compactBelow(document, 2)
  document.commentBefore = ` yaml-language-server: $schema=${schema}`
  const left = leftOut.map((line) => `#   ${plainText(line)}\n`)
  const tail = left.length === 0 ? '' : `\n# Left out, so not managed:\n${left.join('')}`
  return toText(document) + tail
}
