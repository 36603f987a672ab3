/** Reads a file with a single YAML or JSON document, and validates it with positions. */
import { LineCounter } from 'yaml'
import { type Diagnostic, problem, SIZE_TABLE } from '../model/index.ts'
import type { Validator } from './definition/validator.ts'
import { judge } from './judge.ts'
import type { ManifestFile } from './types.ts'
import { readDocuments } from './yaml/documents.ts'
import { sourceAt, startOfFile } from './yaml/place.ts'
import { type Plain, Tree } from './yaml/tree.ts'

export interface OnlyDocument {
  readonly tree: Tree
  /** The valid part. */
  readonly value: Plain
}

/**
 * @param what subject of messages: `A policy file`.
 * @param diagnostics problems are added here
 */
export const onlyDocument = (
  { path, text }: ManifestFile,
  validator: Validator,
  what: string,
  diagnostics: Diagnostic[],
): OnlyDocument | undefined => {
  const lines = new LineCounter()
  const documents = [...readDocuments(text, lines)]
  const problems = documents.flatMap((one) => one.problems)
  for (const { start, end, code, message, hint } of problems) {
    diagnostics.push(problem(code, message, hint, sourceAt(path, text, lines, start, end)))
  }
  if (problems.length > 0) return undefined
  const [{ document } = {}, ...others] = documents
  if (document === undefined || document.contents === null || others.length > 0) {
    const message = `${what} must have exactly one document, but this one has ${others.length > 0 ? 'several' : 'none'}.`
    diagnostics.push(problem('E_EMPTY', message, undefined, startOfFile(path)))
    return undefined
  }
  const tree = new Tree({ file: path, text, lines, content: document, diagnostics })
  const value = judge(tree, validator, what, SIZE_TABLE)
  return value === undefined ? undefined : { tree, value }
}
