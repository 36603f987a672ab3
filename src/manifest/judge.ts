/** What the validator refuses, as diagnostics at their places in the text. */
import { groupBy } from '../base/index.ts'
import type { SizeTable, Source } from '../model/index.ts'
import type { Refusal, Validator } from './definition/validator.ts'
import { MAX_PROBLEMS } from './files/limits.ts'
import { genericWords } from './words/generic.ts'
import { SPECIFIC } from './words/specific.ts'
import type { Words } from './words/words.ts'
import type { Plain, Tree } from './yaml/tree.ts'

/** How often what is left is validated again, once what was refused is taken out. */
const MAX_ROUNDS = 16

/** Keywords that only say that something inside of them was refused. */
const ECHOES = new Set(['if', 'propertyNames'])

/**
 * Reports what the validator refuses, one problem a place, and takes it out of the tree.
 *
 * @param what the document is called in messages: `A manifest`.
 * @returns what is left, which fits the schema; `undefined` if nothing does.
 */
export const judge = (tree: Tree, validator: Validator, what: string, table: SizeTable): Plain | undefined => {
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
      // Without words, the cause is another refusal. Some refusal must have words, or a wrong document would pass.
      const isLast = index === refusals.length - 1 && !isExplained
      const words = wordsOf(problem, what, table) ?? (isLast ? genericWords(refusal, problem.value, what) : undefined)
      if (words === undefined) continue
      isExplained = true
      // Later rounds only find what follows from the first one.
      if (round === 0 && refused.size < MAX_PROBLEMS) {
        tree.report(words.code, sourceOf(tree, problem, words), words.message, words.hint)
      }
      // Size and scale to zero each have a valid value; only together they do not.
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
  /** Unique a place. */
  readonly place: string
  /** The map or list that holds the refused value; absent for the document itself. */
  readonly parent?: Readonly<Record<string, unknown>>
  readonly key: string
  /** What messages call the value; an unknown key is a matter of the map that it is in. Empty for the document. */
  readonly name: string
  readonly value: unknown
  /** Refused is the key itself, not its value. */
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

/** A part of a JSON pointer. */
const decode = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~')

const wordsOf = (
  { refusal, parent, key, name, value, isKey }: Problem,
  what: string,
  table: SizeTable,
): Words | undefined => {
  const isName = refusal.propertyName !== undefined
  const specific = isKey && !isName ? undefined : SPECIFIC[String(refusal.parentSchema.$comment)]
  if (specific !== undefined && (isName || value !== null)) {
    const words = specific(isName ? key : value, { parent: parent ?? {}, key, table })
    if (words !== 'generic') return words
  }
  return genericWords(refusal, value, name === '' ? what : name)
}

const sourceOf = (tree: Tree, { parent, key, isKey }: Problem, { at }: Words): Source => {
  if (parent === undefined) return tree.source(undefined)
  return isKey ? tree.keySource(parent, key) : tree.source(parent, at ?? key)
}
