/** Settings of VS Code, and of editors that read them, so that manifests are completed and checked as they are typed. */
import { applyEdits, getNodeValue, modify, type ParseError, parseTree } from 'jsonc-parser'

export const SCHEMA_FILE = '.vscode/espalier.schema.json'

const MANIFESTS = ['espalier.yaml', 'espalier.yml', 'espalier/**/*.yaml', 'espalier/**/*.yml']
const EXTENSION = 'redhat.vscode-yaml'
const FORMAT = { tabSize: 2, insertSpaces: true, eol: '\n' }

/** @returns the settings with the schema for manifests, or `undefined` where they are no JSON with comments. */
export const withSchema = (settings: string): string | undefined =>
  edited(settings, ['yaml.schemas', `./${SCHEMA_FILE}`], () => MANIFESTS)

/** @returns the recommendations with the YAML extension, or `undefined` where they are no JSON with comments. */
export const withExtension = (extensions: string): string | undefined =>
  edited(extensions, ['recommendations'], (present) => {
    const list = Array.isArray(present) ? present : []
    return list.includes(EXTENSION) ? list : [...list, EXTENSION]
  })

/** What is there already stays, comments and layout included. */
const edited = (text: string, path: string[], desired: (present: unknown) => unknown): string | undefined => {
  const start = text.trim() === '' ? '{}\n' : text
  const errors: ParseError[] = []
  const tree = parseTree(start, errors, { allowTrailingComma: true })
  if (errors.length > 0 || tree?.type !== 'object') return undefined
  let present: unknown = getNodeValue(tree)
  for (const key of path) present = isRecord(present) ? present[key] : undefined
  const value = desired(present)
  if (JSON.stringify(value) === JSON.stringify(present)) return text
  return applyEdits(start, modify(start, path, value, { formattingOptions: FORMAT }))
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
