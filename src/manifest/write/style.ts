/** How new YAML is laid out: short maps and lists on one line, invisible characters escaped. */
import { type Document, isCollection, isMap, isScalar, type Node, Scalar, visit } from 'yaml'
import { escapeInvisible, hasInvisible, hex } from '../../base/index.ts'

const STYLE = { lineWidth: 0, flowCollectionPadding: true } as const

/** @param indent of a level, in characters. */
export const toText = (document: Document, indent = 2): string => {
  visit(document, {
    Pair: (_key, pair) => {
      if (typeof pair.key === 'string') pair.key = new Scalar(pair.key)
    },
    Scalar: (_key, node) => {
      // Escapes mean something between double quotes only.
      if (typeof node.value === 'string' && hasInvisible(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  // The library escapes control characters by itself, and writes these as they are.
  return escapeInvisible(document.toString({ ...STYLE, indent }), (code) =>
    code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`,
  )
}

/** Of a map that is written on one line. */
const SHORT = 4

/** Puts short collections on one line that are more than `depth` nodes deep. */
export const compactBelow = (document: Document, depth: number): void => {
  visit(document, {
    Collection: (_key, node, path) => {
      if (path.length > depth && isShort(node)) node.flow = true
    },
  })
}

/** A map with few values, none of them a map except a size; or a list of few plain values. */
const isShort = (node: Node): boolean => {
  if (!isCollection(node) || node.items.length > SHORT) return false
  if (!isMap(node)) return node.items.every((item) => isScalar(item))
  return node.items.every(
    ({ key, value }) =>
      (!isCollection(value) || String(key) === 'size') && String(key) !== 'primary' && String(key) !== 'match',
  )
}
