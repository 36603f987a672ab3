/** How new YAML is laid out: short maps and lists on one line, names spelt out that would turn an editor around. */
import { type Document, isCollection, isMap, isScalar, type Node, visit } from 'yaml'

const STYLE = { lineWidth: 0, flowCollectionPadding: true } as const

/** The library writes control characters as escapes by itself, and these as they are. */
const TURNING = /[\p{Bidi_Control}\u2028\u2029\ufeff]/gu

/** @param indent of a level, in characters. */
export const toText = (document: Document, indent = 2): string => {
  visit(document, {
    Scalar: (_key, node) => {
      // Escapes mean something between double quotes only.
      if (typeof node.value === 'string' && node.value.search(TURNING) >= 0) node.type = 'QUOTE_DOUBLE'
    },
  })
  return document
    .toString({ ...STYLE, indent })
    .replace(TURNING, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

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
