/** Seeds: the projects that a sandbox starts with. A seed uses the manifest's terms and obeys the API's rules. */
import { z } from 'zod'
import { EspalierError, schemaAddress } from '../../base/index.ts'
import { issueAt } from '../../base/issue-text.ts'
import { type FileKind, parseYaml, readYaml } from '../../base/yaml/index.ts'
import { parseDuration, SCALE_TO_ZERO_DEFAULT, SCALE_TO_ZERO_NEVER } from '../../model/index.ts'
import { IN_SEEDS, limitProblem } from '../world/limits.ts'
import type { ProjectRecord } from '../world/records.ts'
import { pgSettings } from '../world/requests.ts'

const SCALE_TO_ZERO: Readonly<Record<string, number>> = { default: SCALE_TO_ZERO_DEFAULT, never: SCALE_TO_ZERO_NEVER }

const size = z
  .union([z.number(), z.strictObject({ min: z.number(), max: z.number() })], {
    error: 'must be a number of compute units, or {min, max}',
  })
  .transform((value) => (typeof value === 'number' ? { min: value, max: value } : value))

const SCALE_TO_ZERO_FORMS = 'must be `default`, `never` or a duration with a unit, such as 5m'
const scaleToZero = z.string({ error: SCALE_TO_ZERO_FORMS }).transform((text, context) => {
  const seconds = Object.hasOwn(SCALE_TO_ZERO, text) ? SCALE_TO_ZERO[text] : parseDuration(text)
  if (seconds !== undefined) return seconds
  context.addIssue(SCALE_TO_ZERO_FORMS)
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
  scaleToZero: scaleToZero.default(SCALE_TO_ZERO_DEFAULT),
  state: z.enum(['active', 'idle']).default('active'),
  disabled: z.boolean().default(false),
  postgres: z
    .strictObject({ settings: pgSettings.default({}), preload: z.array(z.string()).optional() })
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
  /** The name of a branch listed before this one. */
  parent: z.string().optional(),
  computes: z.array(compute).default([]),
})

const KEY_LENGTH = { error: 'must have 8 to 256 characters' }
const keyText = { key: z.string().min(8, KEY_LENGTH).max(256, KEY_LENGTH), revoked: z.boolean().default(false) }
const orgId = z.string().regex(/^org-[a-z0-9-]{1,56}$/)

/** API keys in addition to the sandbox's own, which has access to everything. */
const key = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('personal'), ...keyText }),
  z.strictObject({ kind: z.literal('organization'), org: orgId, ...keyText }),
  z.strictObject({ kind: z.literal('project'), project: z.string(), ...keyText }),
])

const project = z.strictObject({
  id: z.string().regex(/^[a-z0-9-]{1,60}$/),
  name: z.string().optional(),
  region: z
    .string()
    .regex(/^[a-z0-9-]{1,60}$/)
    .default('aws-eu-central-1'),
  plan: z.enum(['free', 'paid']).default('paid'),
  /** The organization that owns the project. */
  org: orgId.optional(),
  /** Defaults for new computes. */
  defaults: z
    .strictObject({
      size: size.default({ min: 0.25, max: 2 }),
      scaleToZero: scaleToZero.default(SCALE_TO_ZERO_DEFAULT),
    })
    .default({ size: { min: 0.25, max: 2 }, scaleToZero: SCALE_TO_ZERO_DEFAULT }),
  branches: z.array(branch).min(1),
  /** When the next service update is due. The sandbox shows this time, but runs no update. */
  maintenance: z.iso.datetime().optional(),
  /** How many past operations to generate. */
  operations: z.int().min(0).max(10_000).default(0),
})

type SeedProject = z.output<typeof project>
type SeedCompute = SeedProject['branches'][number]['computes'][number]

type Report = (path: readonly PropertyKey[], message: string) => void

const reportTo =
  (context: z.RefinementCtx): Report =>
  (path, message) =>
    context.addIssue({ code: 'custom', path: [...path], message })

const checkProject = (checked: SeedProject, context: z.RefinementCtx): void => {
  const report = reportTo(context)
  checkSize(checked.defaults, checked.plan, ['defaults'], report)
  const names = new Set<string>()
  let hasDefault = false
  for (const [index, { name, parent, computes, default: isDefault }] of checked.branches.entries()) {
    const at = ['branches', index] as const
    if (names.has(name)) report([...at, 'name'], `two branches are named ${name}`)
    if (parent !== undefined && !names.has(parent)) {
      report([...at, 'parent'], `no earlier branch is named ${parent}`)
    }
    if (isDefault && hasDefault) report([...at, 'default'], 'only one branch can be the default')
    hasDefault ||= isDefault
    names.add(name)
    let hasPrimary = false
    for (const [place, compute] of computes.entries()) {
      const here = [...at, 'computes', place]
      if (compute.type === 'read_write' && hasPrimary) report(here, 'a branch can have only one read_write compute')
      hasPrimary ||= compute.type === 'read_write'
      checkSize(compute, checked.plan, here, report)
    }
  }
}

/** Checks that no id is used twice, even in different projects. */
const checkProjects = (projects: readonly SeedProject[], context: z.RefinementCtx): void => {
  const report = reportTo(context)
  const ids = new Set<string>()
  const claim = (id: string | undefined, path: readonly PropertyKey[]): void => {
    if (id === undefined) return
    if (ids.has(id)) report([...path, 'id'], `the id ${id} is used twice`)
    ids.add(id)
  }
  for (const [index, { id, branches }] of projects.entries()) {
    claim(id, [index])
    for (const [place, branch] of branches.entries()) {
      claim(branch.id, [index, 'branches', place])
      for (const [spot, compute] of branch.computes.entries()) {
        claim(compute.id, [index, 'branches', place, 'computes', spot])
      }
    }
  }
}

const checkSize = (
  { size, scaleToZero }: Pick<SeedCompute, 'size' | 'scaleToZero'>,
  plan: ProjectRecord['plan'],
  path: readonly PropertyKey[],
  report: Report,
): void => {
  const problem = limitProblem({ ...size, suspendTimeoutSeconds: scaleToZero }, plan, IN_SEEDS)
  if (problem === undefined) return
  report([...path, problem.field === 'suspend_timeout_seconds' ? 'scaleToZero' : 'size'], problem.message)
}

const seedShape = z.strictObject({
  projects: z.array(project.superRefine(checkProject)).superRefine(checkProjects),
  keys: z.array(key).default([]),
})

/** A seed as the user wrote it. */
export type Seed = z.input<typeof seedShape>
/** A seed in which all defaults are filled in. */
export type ResolvedSeed = z.output<typeof seedShape>

/** The JSON Schema (2020-12) of a seed file. */
export const seedSchema = (): object => ({
  ...z.toJSONSchema(seedShape, { io: 'input', target: 'draft-2020-12' }),
  $id: schemaAddress('seed'),
  title: 'A seed of `espalier sandbox`: the projects to start from',
})

const KIND: FileKind = {
  code: 'E_SEED',
  title: 'The seed file',
  hint: 'For the format, run `espalier explain E_SEED`.',
}

/**
 * @param name the name of the file in messages.
 * @throws {EspalierError} `E_SEED`: one line for each mistake, with file, line and column.
 */
export const parseSeed = (text: string, name: string): Seed => parseYaml(text, name, seedShape, KIND)

/** @throws {EspalierError} `E_SEED` if the file cannot be read or is invalid. */
export const readSeed = (path: string): Promise<Seed> => readYaml(path, seedShape, KIND)

/** @throws {EspalierError} `E_SEED` if the seed is invalid. */
export const resolveSeed = (value: Seed): ResolvedSeed => {
  const parsed = seedShape.safeParse(value)
  if (parsed.success) return parsed.data
  const mistakes = parsed.error.issues.map((issue) => `seed: ${issueAt(issue, 'the seed')}`)
  throw new EspalierError('E_SEED', mistakes.join('\n'), { hint: KIND.hint })
}
