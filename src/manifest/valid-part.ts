/** Validates documents, and turns validation errors into diagnostics with positions. */
import { LineCounter } from 'yaml'
import { groupBy } from '../base/index.ts'
import { MAX_PROBLEMS, type Plain, readContents } from '../base/yaml/index.ts'
import { type Diagnostic, problem, type Source, startOfFile } from '../model/index.ts'
import type { Refusal, Validator } from './generated/validator.js'
import { sourceAt, Tree, yamlWords } from './read/tree.ts'
import type { ManifestFile } from './types.ts'
import { SPECIFIC } from './words/specific.ts'
import { genericWords, type Words } from './words/words.ts'

/** How many times to validate the rest again after invalid values were removed. */
const MAX_ROUNDS = 16

/** Keywords whose errors only repeat an inner error. */
const ECHOES = new Set(['if', 'propertyNames'])

/**
 * Reports invalid values, one problem per place, and removes them from the tree.
 *
 * @param what subject of messages: `A manifest`.
 * @returns the remaining, valid part; `undefined` if there is none.
 */
export const validPart = (tree: Tree, validator: Validator, what: string): Plain | undefined => {
  const { value: root } = tree
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    if (validator(root)) return root
    const refused = new Map<string, Problem>()
    let isFit = true
    let isExplained = false
    const refusals = (validator.errors ?? []).filter(({ keyword }) => !ECHOES.has(keyword))
    for (const [index, refusal] of refusals.entries()) {
      const problem = problemOf(root, refusal)
      if (refused.has(problem.place)) continue
      // An error without a message is caused by another one. But report at least one, or an invalid document would
      // pass.
      const isLast = index === refusals.length - 1 && !isExplained
      const words = wordsOf(problem, what) ?? (isLast ? genericWords(refusal, problem.value, what) : undefined)
      if (words === undefined) continue
      isExplained = true
      // Later rounds only find consequences of the problems from the first round.
      if (round === 0 && refused.size < MAX_PROBLEMS) {
        tree.report(words.code, sourceOf(tree, problem, words), words.message, words.hint)
      }
      // Size and scale to zero are valid separately, just not together, so remove neither.
      if (words.code === 'E_SCALE_TO_ZERO_SIZE') continue
      isFit = false
      refused.set(problem.place, problem)
    }
    if (isFit) return root
    for (const [parent, problems] of groupBy(refused.values(), ({ parent }) => parent)) {
      if (parent === undefined) return undefined
      tree.remove(parent, new Set(problems.map(({ key }) => key)))
    }
  }
  return undefined
}

interface Problem {
  readonly refusal: Refusal
  /** Identifies the place. */
  readonly place: string
  /** The map or list that contains the invalid value; absent for the document itself. */
  readonly parent?: Readonly<Record<string, unknown>>
  readonly key: string
  /** Name of the value in messages; for an unknown key, name of its map. Empty for the document. */
  readonly name: string
  readonly value: unknown
  /** Whether the key is invalid, rather than its value. */
  readonly isKey: boolean
}

const problemOf = (root: Plain, refusal: Refusal): Problem => {
  const extra = refusal.propertyName ?? refusal.params.additionalProperty
  const isKey = typeof extra === 'string'
  const path = [...refusal.instancePath.split('/').slice(1).map(decode), ...(isKey ? [extra] : [])]
  let parent: Problem['parent']
  let value: unknown = root
  let name = ''
  for (const [index, part] of path.entries()) {
    parent = value as Problem['parent']
    value = parent?.[part]
    if (isKey && index === path.length - 1) break
    name = Array.isArray(parent) ? `An entry of ${name}` : `\`${part}\``
  }
  const missing = refusal.keyword === 'required' ? String(refusal.params.missingProperty) : ''
  const place = [...path, missing].join('\n')
  return { refusal, place, ...(parent === undefined ? {} : { parent }), key: path.at(-1) ?? '', name, value, isKey }
}

/** Decodes a segment of a JSON pointer. */
const decode = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~')

const wordsOf = ({ refusal, parent, key, name, value, isKey }: Problem, what: string): Words | undefined => {
  const isName = refusal.propertyName !== undefined
  const specific = isKey && !isName ? undefined : SPECIFIC[String(refusal.parentSchema.$comment)]
  if (specific !== undefined && (isName || value !== null)) {
    const words = specific(isName ? key : value, { parent: parent ?? {}, key })
    if (words !== 'generic') return words
  }
  return genericWords(refusal, value, name === '' ? what : name)
}

const sourceOf = (tree: Tree, { parent, key, isKey }: Problem, { at }: Words): Source => {
  if (parent === undefined) return tree.source(undefined)
  return isKey ? tree.keySource(parent, key) : tree.source(parent, at ?? key)
}

/**
 * @param what subject of messages: `A policy file`.
 * @param diagnostics problems are added here.
 * @returns the document with its valid part.
 */
export const onlyDocument = (
  { path, text }: ManifestFile,
  validator: Validator,
  what: string,
  diagnostics: Diagnostic[],
): { readonly tree: Tree; readonly value: Plain } | undefined => {
  const lines = new LineCounter()
  const documents = [...readContents(text, lines)]
  const problems = documents.flatMap((one) => one.problems)
  for (const one of problems) {
    const { code, message, hint } = yamlWords(one)
    diagnostics.push(problem(code, message, hint, sourceAt(path, text, lines, one.start, one.end)))
  }
  if (problems.length > 0) return undefined
  const [{ content } = {}, ...others] = documents
  if (content === undefined || content.value === null || others.length > 0) {
    const message = `${what} must have exactly one document, but this one has ${others.length > 0 ? 'several' : 'none'}.`
    diagnostics.push(problem('E_EMPTY', message, undefined, startOfFile(path)))
    return undefined
  }
  const tree = new Tree({ file: path, text, lines, content, diagnostics })
  const value = validPart(tree, validator, what)
  return value === undefined ? undefined : { tree, value }
}
