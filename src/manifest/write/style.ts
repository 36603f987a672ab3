/** How new YAML is laid out: short maps and lists on one line. */
import { type Document, isCollection, isMap, isScalar, type Node, visit } from 'yaml'

export const STYLE = { lineWidth: 0, flowCollectionPadding: true } as const

/** Of a map that is written on one line. */
const SHORT = 4

/** Puts short collections on one line that lie more than `depth` nodes deep. */
export const compactBelow = (document: Document, depth: number): void => {
  visit(document, {
    Collection: (_key, node, path) => {
      if (path.length > depth && isShort(node)) node.flow = true
    },
  })
}

/** Of a map, few values, and none of them a map of its own but a size; of a list, few plain values. */
const isShort = (node: Node): boolean => {
  if (!isCollection(node) || node.items.length > SHORT) return false
  if (!isMap(node)) return node.items.every((item) => isScalar(item))
  return node.items.every(
    ({ key, value }) =>
      (!isCollection(value) || String(key) === 'size') && String(key) !== 'primary' && String(key) !== 'match',
  )
}
