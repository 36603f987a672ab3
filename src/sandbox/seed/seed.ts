/** The world to start from, as a person writes it. */
import { readFile } from 'node:fs/promises'
import { LineCounter, parseDocument } from 'yaml'
import { z } from 'zod'
import { EspalierError, parseDuration } from '../../model/index.ts'

const SCALE_TO_ZERO: Readonly<Record<string, number>> = { default: 0, never: -1 }

const size = z
  .union([z.number(), z.strictObject({ min: z.number(), max: z.number() })])
  .transform((value) => (typeof value === 'number' ? { min: value, max: value } : value))

const scaleToZero = z.string().transform((text, context) => {
  const seconds = SCALE_TO_ZERO[text] ?? parseDuration(text)
  if (seconds !== undefined) return seconds
  context.addIssue('`default`, `never` or a duration such as 5m')
  return z.NEVER
})

const compute = z.strictObject({
  id: z
    .string()
    .regex(/^ep-[a-z0-9-]{1,57}$/)
    .optional(),
  type: z.enum(['read_write', 'read_only']).default('read_write'),
  name: z.string().min(1).max(64).optional(),
  size: size.default({ min: 0.25, max: 0.25 }),
  scaleToZero: scaleToZero.default(0),
  state: z.enum(['active', 'idle']).default('active'),
  disabled: z.boolean().default(false),
  postgres: z
    .strictObject({ settings: z.record(z.string(), z.string()).default({}), preload: z.array(z.string()).optional() })
    .default({ settings: {} }),
})

const branch = z.strictObject({
  id: z
    .string()
    .regex(/^br-[a-z0-9-]{1,57}$/)
    .optional(),
  name: z.string().min(1).max(256),
  default: z.boolean().default(false),
  protected: z.boolean().default(false),
  /** A branch named earlier. */
  parent: z.string().optional(),
  computes: z.array(compute).default([]),
})

const project = z.strictObject({
  id: z.string().regex(/^[a-z0-9-]{1,60}$/),
  name: z.string().optional(),
  region: z.string().default('aws-eu-central-1'),
  plan: z.enum(['free', 'paid']).default('paid'),
  /** What a new compute has where its request does not say. */
  defaults: z
    .strictObject({ size: size.default({ min: 0.25, max: 2 }), scaleToZero: scaleToZero.default(0) })
    .default({ size: { min: 0.25, max: 2 }, scaleToZero: 0 }),
  branches: z.array(branch).min(1),
})

const seed = z.strictObject({ projects: z.array(project) })

/** What a seed file says. */
export type Seed = z.input<typeof seed>
export type ResolvedSeed = z.output<typeof seed>

export const resolveSeed = (value: Seed): ResolvedSeed => seed.parse(value)

/** @throws {EspalierError} `E_SEED` with file, line and column. */
export const parseSeed = (text: string, name: string): Seed => {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true })
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset)
    return `${name}:${line}:${col}`
  }
  const [broken] = document.errors
  if (broken !== undefined) {
    throw new EspalierError('E_SEED', `${at(broken.pos[0])}: ${broken.message.split('\n')[0]}`)
  }
  const value: unknown = document.toJS({ maxAliasCount: 100 })
  const parsed = seed.safeParse(value)
  if (parsed.success) return value as Seed
  const issue = parsed.error.issues[0]
  const path = issue?.path ?? []
  throw new EspalierError(
    'E_SEED',
    `${at(offsetOf(document, path))}: ${path.join('.') || 'the file'}: ${issue?.message}`,
    {
      hint: 'docs/sandbox.md shows what a seed may hold.',
    },
  )
}

/** @throws {EspalierError} `E_SEED` where it cannot be read or is wrong. */
export const readSeed = async (path: string): Promise<Seed> => {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new EspalierError('E_SEED', `The seed file ${path} cannot be read.`, { cause })
  })
  return parseSeed(text, path)
}

/** Of the node at `path`, or of the nearest one above it that is there. */
const offsetOf = (document: ReturnType<typeof parseDocument>, path: readonly PropertyKey[]): number => {
  for (let length = path.length; length > 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true)
    if (typeof node === 'object' && node !== null && 'range' in node)
      return (node.range as [number] | undefined)?.[0] ?? 0
  }
  return 0
}

export const seedSchema = (): object => ({
  ...z.toJSONSchema(seed, { io: 'input', target: 'draft-2020-12' }),
  $id: 'https://espalier.dev/schemas/seed.schema.json',
  title: 'A seed of `espalier sandbox`: the projects to start from',
})
