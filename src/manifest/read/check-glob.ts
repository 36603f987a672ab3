import { globProblem } from '../../model/index.ts'
import { globWords } from '../words/specific.ts'
import type { Tree } from '../yaml/tree.ts'

/** Whether a glob in a map or list is valid. Reports it if not. */
export const checkGlob = (tree: Tree, parent: object, key: string | number, glob: string): boolean => {
  const why = globProblem(glob)
  if (why === undefined) return true
  const { code, message } = globWords(why)
  tree.report(code, tree.source(parent, key), message)
  return false
}
