/** Small live projects and manifests, in a notation similar to that of manifests. */
import type {
  ComputeAttributes,
  Desired,
  DesiredAbsence,
  DesiredCompute,
  DesiredDocument,
  DesiredShape,
  Observed,
  ObservedBranch,
  ObservedCompute,
  Plan,
  PlanResult,
  RestartWindow,
  Size,
  Source,
} from '../../src/model/index.ts'
import { type PlanOptions, plan } from '../../src/planner/index.ts'

export const PROJECT = 'quiet-river-12345678'

export interface LiveCompute {
  readonly id?: string
  readonly name?: string
  readonly size?: number | Size
  readonly scaleToZero?: number
  readonly disabled?: boolean
  readonly settings?: Readonly<Record<string, string>>
  readonly preload?: readonly string[]
  readonly poolerEnabled?: boolean
  readonly state?: 'active' | 'idle' | 'init'
}

export interface LiveBranch {
  readonly primary?: LiveCompute
  readonly replicas?: readonly LiveCompute[]
  readonly protected?: boolean
}

const range = (size: number | Size): Size => (typeof size === 'number' ? { min: size, max: size } : size)

export const branchId = (name: string): string => `br-${name.replaceAll('/', '-')}`

const compute = (
  live: LiveCompute,
  branch: string,
  type: ObservedCompute['type'],
  fallback: string,
): ObservedCompute => {
  const id = live.id ?? fallback
  return {
    id,
    branchId: branchId(branch),
    type,
    host: `${id}.host.test`,
    state: live.state ?? 'active',
    attributes: {
      ...(live.name === undefined ? {} : { name: live.name }),
      size: range(live.size ?? 1),
      scaleToZero: live.scaleToZero ?? 0,
      disabled: live.disabled ?? false,
      postgresSettings: live.settings ?? {},
      ...(live.preload === undefined ? {} : { postgresPreload: live.preload }),
      ...(live.poolerEnabled === undefined ? {} : { poolerEnabled: live.poolerEnabled }),
    },
  }
}

/** The live project. Computes without an id get `ep-BRANCH` or `ep-BRANCH-N`. */
export const world = (branches: Readonly<Record<string, LiveBranch>>): Observed => ({
  takenAt: '2026-01-01T00:00:00.000Z',
  missing: [],
  projects: [
    {
      id: PROJECT,
      branches: Object.entries(branches).map(
        ([name, branch], index): ObservedBranch => ({
          id: branchId(name),
          name,
          isDefault: index === 0,
          isProtected: branch.protected ?? false,
        }),
      ),
      computes: Object.entries(branches).flatMap(([name, { primary, replicas = [] }]) => [
        ...(primary === undefined ? [] : [compute(primary, name, 'read_write', `ep-${branchId(name)}`)]),
        ...replicas.map((replica, index) => compute(replica, name, 'read_only', `ep-${branchId(name)}-${index}`)),
      ]),
    },
  ],
})

export interface Declared {
  readonly id?: string
  readonly renamedFrom?: string
  readonly name?: string
  readonly size?: number | Size
  readonly scaleToZero?: number
  readonly disabled?: boolean
  readonly settings?: Readonly<Record<string, string>>
  readonly preload?: readonly string[]
  readonly restartWindow?: RestartWindow | 'always'
}

export interface DeclaredShape {
  readonly protect?: boolean
  readonly primary?: Declared | 'absent'
  readonly replicas?: Readonly<Record<string, Declared>>
  /** Names of replicas that are declared `absent`. */
  readonly absentReplicas?: readonly string[]
}

export interface DeclaredDocument {
  readonly branches?: Readonly<Record<string, DeclaredShape>>
  readonly rules?: readonly (DeclaredShape & { readonly match: string; readonly except?: readonly string[] })[]
  readonly prune?: boolean
  readonly parkOn?: string
  readonly restartWindow?: RestartWindow
  readonly project?: string
}

const source = (line: number): Source => ({ file: 'espalier.yaml', line, column: 1, length: 1 })

const desiredCompute = (declared: Declared, key?: string): DesiredCompute => {
  const { id, renamedFrom, name, size, scaleToZero, disabled, settings, preload, restartWindow } = declared
  const attributes: ComputeAttributes = {
    ...((key ?? name) === undefined ? {} : { name: key ?? name ?? '' }),
    ...(size === undefined ? {} : { size: range(size) }),
    ...(scaleToZero === undefined ? {} : { scaleToZero }),
    ...(disabled === undefined ? {} : { disabled }),
    ...(settings === undefined ? {} : { postgresSettings: settings }),
    ...(preload === undefined ? {} : { postgresPreload: preload }),
  }
  return {
    ...(key === undefined ? {} : { key }),
    ...(id === undefined ? {} : { id }),
    ...(renamedFrom === undefined ? {} : { renamedFrom }),
    attributes,
    ...(restartWindow === undefined ? {} : { restartWindow }),
    source: source(1),
    sources: {},
  }
}

const shape = ({ protect = false, primary, replicas = {}, absentReplicas }: DeclaredShape): DesiredShape => ({
  protect,
  ...(primary === undefined
    ? {}
    : {
        primary:
          primary === 'absent'
            ? ({ absent: true, source: source(1) } satisfies DesiredAbsence)
            : desiredCompute(primary),
      }),
  replicas: Object.entries(replicas).map(([key, replica]) => desiredCompute(replica, key)),
  ...(absentReplicas && { absentReplicas: absentReplicas.map((key) => ({ key, absent: true, source: source(7) })) }),
})

export const document = (declared: DeclaredDocument): DesiredDocument => ({
  project: declared.project ?? PROJECT,
  source: source(1),
  branches: Object.entries(declared.branches ?? {}).map(([ref, one]) => ({ ref, source: source(2), ...shape(one) })),
  rules: (declared.rules ?? []).map((rule) => ({
    match: rule.match,
    except: rule.except ?? [],
    source: source(3),
    ...shape(rule),
  })),
  prune: declared.prune ?? false,
  ...(declared.restartWindow === undefined ? {} : { restartWindow: declared.restartWindow }),
  ...(declared.parkOn === undefined ? {} : { parkOn: { ref: declared.parkOn, source: source(4) } }),
})

export const desired = (...documents: readonly DeclaredDocument[]): Desired => ({ documents: documents.map(document) })

/** @throws if there is no plan. */
export const planOf = (declared: DeclaredDocument, observed: Observed, options?: PlanOptions): Plan => {
  const result = plan(desired(declared), observed, options)
  if (!result.ok) throw new Error(`no plan: ${codesOf(result).join(', ')}`)
  return result.plan
}

/** The codes of the errors that prevent a plan; empty if there is one. */
export const errorsOf = (declared: DeclaredDocument, observed: Observed, options?: PlanOptions): readonly string[] => {
  const result = plan(desired(declared), observed, options)
  return result.ok ? [] : codesOf(result)
}

const codesOf = (result: Extract<PlanResult, { ok: false }>): readonly string[] =>
  result.diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code)
