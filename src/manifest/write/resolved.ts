/** Manifests with defaults, profiles and shared files merged in, and where each value is declared. */
import { Document, Scalar, YAMLMap } from 'yaml'
import { defined, plainText } from '../../base/index.ts'
import {
  ATTRIBUTE_KEYS,
  type Desired,
  type DesiredAbsence,
  type DesiredCompute,
  type DesiredDocument,
  type DesiredShape,
  formatDuration,
  isAbsence,
  keysOfPath,
  type Policy,
  policyRuleRow,
  rowOf,
  type Source,
} from '../../model/index.ts'
import { windowOf } from './from-live.ts'
import { toText } from './style.ts'

/** A value in a manifest's format, and where it is declared. If there is no source, the value is the default. */
interface ResolvedValue {
  readonly value: unknown
  readonly source?: Source
}

/** The manifests as JSON. */
export type ResolvedManifests = ReturnType<typeof resolvedManifests>
type ResolvedDocument = ReturnType<typeof resolvedDocument>
type ResolvedShape = ReturnType<typeof resolvedShape>
type ResolvedCompute = ReturnType<typeof resolvedCompute>

export const resolvedManifests = ({ documents, waves = [] }: Desired) => ({
  formatVersion: '1.0' as const,
  documents: documents.map(resolvedDocument),
  waves,
})

const resolvedDocument = (document: DesiredDocument) => {
  const { project, source, prune, parkOn, restartWindow, price, tier, skipExpiring, policies = [] } = document
  const { sources = {}, branches, rules } = document
  const at = (key: string, value: unknown): ResolvedValue => ({ value, ...defined({ source: sources[key] }) })
  return {
    project,
    source,
    prune: at('prune', prune),
    ...defined({
      parkOn: parkOn && at('parkOn', parkOn.ref),
      restartWindow: restartWindow && at('restartWindow', plainOf(windowOf(restartWindow))),
      skipExpiring: skipExpiring === undefined ? undefined : at('skipExpiring', formatDuration(skipExpiring)),
      price: price && at('price', price),
      tier: tier === undefined ? undefined : at('tier', tier),
    }),
    ...(policies.length > 0 && {
      policy: policies.map((policy) => ({ value: policyValue(policy), source: policy.source })),
    }),
    branches: Object.fromEntries(branches.map((branch) => [branch.ref, resolvedShape(branch, branch.source)])),
    rules: rules.map((rule) => ({
      match: rule.match,
      except: rule.except,
      ...defined({ expires: rule.expires }),
      ...resolvedShape(rule, rule.source),
    })),
  }
}

const resolvedShape = (shape: DesiredShape, source: Source) => {
  const { protect, protectSource, primary, replicas, absentReplicas = [] } = shape
  return {
    source,
    protect: { value: protect, ...defined({ source: protectSource }) },
    ...(primary && { primary: isAbsence(primary) ? primary : resolvedCompute(primary) }),
    replicas: Object.fromEntries<ResolvedCompute | DesiredAbsence>([
      ...replicas.map((replica) => [replica.key ?? '', resolvedCompute(replica)] as const),
      ...absentReplicas.map(({ key, ...absence }) => [key, absence] as const),
    ]),
  }
}

/** Attributes are by manifest path, such as `postgres.settings.work_mem`. */
const resolvedCompute = (compute: DesiredCompute) => {
  const { key, id, renamedFrom, attributes, restartWindow, source, sources } = compute
  const values: Record<string, ResolvedValue> = {}
  const add = (path: string, value: unknown, from: Source | undefined = sources[path]): void => {
    values[path] = { value: plainOf(value), ...defined({ source: from }) }
  }
  if (id !== undefined) add('id', id)
  if (renamedFrom !== undefined) add('renamedFrom', renamedFrom, source)
  for (const attribute of ATTRIBUTE_KEYS) {
    const row = rowOf(attribute)
    const value = attributes[attribute]
    // The name of a replica is its key.
    if (value === undefined || (attribute === 'name' && key !== undefined)) continue
    const written = row.write(value, attributes) ?? value
    if (row.type === 'map') for (const [name, one] of written as Map<string, unknown>) add(`${row.path}.${name}`, one)
    else add(row.path, written)
  }
  if (restartWindow !== undefined) add('restartWindow', windowOf(restartWindow))
  return { source, attributes: values }
}

const plainOf = (value: unknown): unknown => (value instanceof Map ? Object.fromEntries(value) : value)

/** A line with a value or, if it has none, the start of a map. */
interface Line {
  readonly path: readonly (string | number)[]
  readonly value?: unknown
  readonly source?: Source
}

/** Manifests without `defaults`, `profiles` and `extends`. A comment on each line names where its value comes from. */
export const resolvedText = ({ documents, waves }: ResolvedManifests): string => {
  const waveLines = waves.flatMap(({ name, projects, source }, index): readonly Line[] => [
    { path: ['waves', index, 'name'], value: name, source },
    { path: ['waves', index, 'projects'], value: projects },
  ])
  return [...documents.map(documentLines), ...(waveLines.length > 0 ? [waveLines] : [])].map(render).join('---\n')
}

const documentLines = ({
  project,
  source,
  branches,
  rules,
  policy = [],
  ...settings
}: ResolvedDocument): readonly Line[] => [
  { path: ['version'], value: 1 },
  { path: ['project'], value: project, source },
  ...Object.entries(settings).map(([key, value]) => ({ path: [key], ...value })),
  ...policy.map((value, index) => ({ path: ['policy', index], ...value })),
  ...Object.entries(branches).flatMap(([ref, shape]) => [
    { path: ['branches', ref], source: shape.source },
    ...shapeLines(['branches', ref], shape),
  ]),
  ...rules.flatMap(({ match, except, expires, ...shape }, index) => [
    { path: ['rules', index, 'match'], value: match, source: shape.source },
    ...(except.length === 0 ? [] : [{ path: ['rules', index, 'except'], value: except }]),
    ...(expires === undefined ? [] : [{ path: ['rules', index, 'expires'], value: expires }]),
    ...shapeLines(['rules', index], shape),
  ]),
]

const shapeLines = (path: Line['path'], { protect, primary, replicas }: ResolvedShape): readonly Line[] => [
  ...(protect.source === undefined ? [] : [{ path: [...path, 'protect'], ...protect }]),
  ...(primary === undefined ? [] : computeLines([...path, 'primary'], primary)),
  ...Object.entries(replicas).flatMap(([name, replica]) => computeLines([...path, 'replicas', name], replica)),
]

const computeLines = (path: Line['path'], compute: ResolvedCompute | DesiredAbsence): readonly Line[] => {
  const { source } = compute
  if (isAbsence(compute)) return [{ path, value: 'absent', source }]
  const values = Object.entries(compute.attributes)
  return [{ path, source }, ...values.map(([key, value]) => ({ path: [...path, ...keysOfPath(key)], ...value }))]
}

const render = (lines: readonly Line[]): string => {
  const document = new Document({})
  for (const { path, value, source } of lines) {
    const node = value === undefined ? new YAMLMap(document.schema) : document.createNode(value, { flow: true })
    document.setIn(path, node)
    if (source === undefined) continue
    const comment = ` ${plainText(source.file)}:${source.line}`
    if (value !== undefined) node.comment = comment
    else {
      // The comment of a map belongs to the line with its key.
      const pair = (document.getIn(path.slice(0, -1)) as YAMLMap).items.at(-1)
      if (pair !== undefined) pair.key = Object.assign(new Scalar(path.at(-1)), { comment })
    }
  }
  return toText(document)
}

// Writes a policy in a policy file's format.

const policyValue = (policy: Policy): Readonly<Record<string, unknown>> => {
  const { name, level, reason, projects, branches, except, computes, rule, per } = policy
  return {
    name,
    level,
    reason,
    ...defined({ projects, branches }),
    ...(except.length > 0 && { except }),
    ...(computes !== 'any' && { computes }),
    rule: { [rule.kind]: policyRuleRow(rule.kind).write(rule.limit) },
    ...defined({ per }),
  }
}
