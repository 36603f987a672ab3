/** Reads a size table from a file, for example one that is newer than the built-in table. */
import { readBoundedFile } from '../base/index.ts'
import {
  cacheGb,
  EspalierError,
  MAX_JSON_BYTES,
  parseJson,
  ramGb,
  SIZE_TABLE,
  type SizeStep,
  type SizeTable,
} from '../model/index.ts'
import { compileValidators } from './definition/validator.ts'

/**
 * Reads JSON such as `{"version": "2027-01", "steps": [{"cu": 60, "maxConnections": 4000}]}`. Limits default to those
 * of the built-in table. `ramGb` and `cacheGb` are always computed from the size.
 *
 * @throws {EspalierError} `E_SIZE_TABLE` if the file cannot be read or is invalid.
 */
export const readSizeTable = async (path: string): Promise<SizeTable> => {
  const fail = (message: string, cause?: unknown): never => {
    throw new EspalierError('E_SIZE_TABLE', `The size table ${path} ${message}.`, {
      hint: '`espalier sizes --format json` prints the built-in table, which you can edit.',
      cause,
    })
  }
  const text = await readBoundedFile(path, MAX_JSON_BYTES).catch((cause: unknown) => fail('cannot be read', cause))
  const parsed = parseJson(text)
  if (!parsed.ok) return fail(`cannot be used: ${parsed.why}`)
  const { value } = parsed
  if (typeof value !== 'object' || value === null) return fail('must be an object')
  const given = value as Partial<Record<keyof SizeTable, unknown>>
  if (!Array.isArray(given.steps) || given.steps.length === 0) return fail('requires `steps`, a non-empty list')
  const steps = given.steps.map((step: unknown, index): SizeStep => {
    const { cu, maxConnections } = (step ?? {}) as Partial<Record<keyof SizeStep, unknown>>
    if (typeof cu !== 'number' || !(cu > 0)) return fail(`has no \`cu\` above 0 in step ${index + 1}`)
    if (typeof maxConnections !== 'number' || !(maxConnections > 0)) {
      return fail(`has no \`maxConnections\` above 0 in step ${index + 1}`)
    }
    return { cu, maxConnections, ramGb: ramGb(cu), cacheGb: cacheGb(cu) }
  })
  const number = (key: 'autoscalingMaxCu' | 'maxSpreadCu' | 'scaleToZeroMaxCu'): number =>
    typeof given[key] === 'number' ? given[key] : SIZE_TABLE[key]
  const table = {
    version: typeof given.version === 'string' ? given.version : path,
    steps: steps.sort((a, b) => a.cu - b.cu),
    autoscalingMaxCu: number('autoscalingMaxCu'),
    maxSpreadCu: number('maxSpreadCu'),
    scaleToZeroMaxCu: number('scaleToZeroMaxCu'),
  }
  await compileValidators(table)
  return table
}
