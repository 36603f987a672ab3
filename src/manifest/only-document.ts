/** Reads a file with a single YAML or JSON document, and validates it with positions. */
import { LineCounter } from 'yaml'
import { type Diagnostic, SIZE_TABLE } from '../model/index.ts'
import type { Validator } from './definition/validator.ts'
import { judge } from './judge.ts'
import type { ManifestFile } from './types.ts'
import { readDocuments } from './yaml/documents.ts'
import { sourceAt } from './yaml/place.ts'
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
  const [first, ...others] = [...readDocuments(text, lines)]
  for (const { start, end, ...words } of [first, ...others].flatMap((one) => one?.problems ?? [])) {
    diagnostics.push({ severity: 'error', ...words, source: sourceAt(path, text, lines, start, end) })
  }
  const document = first?.document
  if (document === undefined || document.contents === null || others.length > 0) {
    if (diagnostics.length === 0) {
      const source = { file: path, line: 1, column: 1, length: 1 }
      const found = others.length > 0 ? 'more' : 'none'
      diagnostics.push({
        severity: 'error',
        code: 'E_EMPTY',
        message: `${what} has one document, and here is ${found}.`,
        source,
      })
    }
    return undefined
  }
  if ((first?.problems.length ?? 0) > 0) return undefined
  const tree = new Tree({ file: path, text, lines, content: document, diagnostics })
  const value = judge(tree, validator, what, SIZE_TABLE)
  return value === undefined ? undefined : { tree, value }
}
