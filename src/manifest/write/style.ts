/** Layout of new YAML: short maps and lists on one line, invisible characters escaped. */
import { type Document, isCollection, isMap, isScalar, type Node, Scalar, visit } from 'yaml'
import { escapeInvisible, hasInvisible, hex } from '../../base/index.ts'

const STYLE = { lineWidth: 0, flowCollectionPadding: true } as const

/** @param indent characters per level. */
export const toText = (document: Document, indent = 2): string => {
  visit(document, {
    Pair: (_key, pair) => {
      if (typeof pair.key === 'string') pair.key = new Scalar(pair.key)
    },
    Scalar: (_key, node) => {
      // Escapes only work in double quotes.
      if (typeof node.value === 'string' && hasInvisible(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  // The library escapes control characters, but not invisible ones.
  return escapeInvisible(document.toString({ ...STYLE, indent }), (code) =>
    code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`,
  )
}

/** Maximum number of entries of a map on one line. */
const SHORT = 4

/** Puts short collections below `depth` on one line. */
export const compactBelow = (document: Document, depth: number): void => {
  visit(document, {
    Collection: (_key, node, path) => {
      if (path.length > depth && isShort(node)) node.flow = true
    },
  })
}

/** A map with few values and no nested maps except sizes, or a list of few plain values. */
const isShort = (node: Node): boolean => {
  if (!isCollection(node) || node.items.length > SHORT) return false
  if (!isMap(node)) return node.items.every((item) => isScalar(item))
  return node.items.every(
    ({ key, value }) =>
      (!isCollection(value) || String(key) === 'size') && String(key) !== 'primary' && String(key) !== 'match',
  )
}
