/** What the manifests on the base branch declare and those of the head do not, compared as in force per compute. */
import { compare, defined } from '../base/index.ts'
import {
  type AttributeKey,
  applyRules,
  type BranchName,
  type Desired,
  formatWindow,
  type NamedBranch,
  type Observed,
  type ObservedBranch,
  type ObservedCompute,
  type ObservedProject,
  opensMore,
  type Released,
  type ReleasedAttribute,
  type RestartWindow,
  rowOf,
  SCALE_TO_ZERO_DEFAULT,
  valuesOf,
  valueText,
} from '../model/index.ts'
import { managedKeys } from './attribute-changes.ts'
import { type Declarations, declarationsOf } from './declarations.ts'
import type { Claim } from './match.ts'
import { safeguardsOf } from './permissions.ts'
import { branchNamer, livePlanned, unmanagedCompute } from './steps.ts'

interface Versions {
  readonly project: ObservedProject
  readonly base: Declarations
  readonly head: Declarations
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly branchName: (id: string) => BranchName
  /** For each rule of the base that matches no live branch, a branch that it would match. The id is the rule's glob. */
  readonly imagined: ReadonlyMap<string, NamedBranch>
}

/** The safeguards of a rule count even if it matches no branch at present. */
const imaginedBranches = ({ documents }: Desired, { id, branches }: ObservedProject): readonly ObservedBranch[] =>
  applyRules(
    documents.filter(({ project }) => project === id),
    branches,
  ).flatMap(({ rule, matching }) => {
    const name = rule.match.replace(/\{([^,{}]*)[^{}]*\}/g, '$1').replace(/\[(.)[^\]]*\]/g, '$1')
    const expiresAt = rule.expires === true ? { expiresAt: '9999-01-01T00:00:00Z' } : {}
    return matching.length > 0 ? [] : [{ id: rule.match, name, isDefault: false, isProtected: false, ...expiresAt }]
  })

/** A live compute that both versions declare. */
interface Kept {
  readonly live: ObservedCompute
  readonly base: Claim
  readonly head: Claim
}

/**
 * Excludes computes that the head deletes (declared absent or pruned), because its plan contains those changes. What is
 * declared elsewhere, such as in defaults, a profile, a rule or another file, is still declared.
 */
export const releasedSince = (base: Desired, head: Desired, { projects, takenAt }: Observed): readonly Released[] =>
  projects
    .map((live): Versions => {
      const imagined = imaginedBranches(base, live)
      const project = { ...live, branches: [...live.branches, ...imagined] }
      return {
        project,
        base: declarationsOf(base, project),
        head: declarationsOf(head, project),
        now: Date.parse(takenAt),
        branchName: branchNamer(project),
        imagined: new Map(imagined.map(({ id }) => [id, { name: id }])),
      }
    })
    .flatMap((versions) => {
      const kept = keptBy(versions)
      return [
        ...releasedComputes(versions),
        ...kept.flatMap((one) => releasedAttributes(one, versions)),
        ...releasedSafeguards(kept, versions),
      ]
    })
    .sort(byPlace)

const keptBy = ({ base, head }: Versions): readonly Kept[] => {
  const claims = new Map(head.claims.map((claim) => [claim.observed?.id, claim]))
  return base.claims.flatMap((claim) => {
    const other = claims.get(claim.observed?.id)
    return claim.observed === undefined || other === undefined
      ? []
      : [{ live: claim.observed, base: claim, head: other }]
  })
}

const releasedComputes = ({ project, base, head, branchName }: Versions): readonly Released[] => {
  const known = new Set([
    ...head.claims.map(({ observed }) => observed?.id),
    ...head.departures.map(({ live }) => live.id),
  ])
  return base.claims.flatMap(({ observed: live, desired }) =>
    live === undefined || known.has(live.id)
      ? []
      : [
          {
            kind: 'compute' as const,
            ...unmanagedCompute({ project: project.id, branchName }, live),
            source: desired.source,
          },
        ],
  )
}

const releasedAttributes = ({ live, base, head }: Kept, { project, branchName }: Versions): readonly Released[] =>
  managedKeys(base.desired).flatMap((key): readonly ReleasedAttribute[] => {
    const { path: attribute, type } = rowOf(key)
    const [is, now] = [valuesOf(key, head.desired.attributes), valuesOf(key, live.attributes)]
    const { sources, source } = base.desired
    return [...valuesOf(key, base.desired.attributes)].flatMap(([path, was]) => {
      const value = now.get(path)
      if (is.has(path) || value === undefined) return []
      // Settings and libraries that are in no manifest may be secret.
      const isHidden = (type === 'map' || type === 'list') && String(value) !== String(was)
      const shown = isHidden ? 'another value' : value
      return [
        {
          kind: 'attribute',
          project: project.id,
          branch: branchName(live.branchId),
          compute: livePlanned(live),
          path,
          live: shown,
          liveText: isHidden ? String(shown) : valueText(key, shown),
          ...(type === 'map' ? {} : defaultOf(key, live, project)),
          source: sources[path] ?? sources[attribute] ?? source,
        },
      ]
    })
  })

/** The default of the service, or of the project for new computes. */
const defaultOf = (
  key: AttributeKey,
  { attributes }: ObservedCompute,
  { settings }: ObservedProject,
): Pick<ReleasedAttribute, 'undo' | 'isDefault'> => {
  const { path, absent, satisfied, write } = rowOf(key)
  const projectDefaults: Readonly<Partial<Record<AttributeKey, unknown>>> = settings?.computeDefaults ?? {}
  const value = projectDefaults[key] ?? (key === 'scaleToZero' ? SCALE_TO_ZERO_DEFAULT : absent)
  if (value === undefined) return {}
  return satisfied(value, attributes[key])
    ? { isDefault: true }
    : defined({ undo: lineOf(path.split('.'), write(value, attributes)) })
}

/** `postgres: { preload: [] }` */
const lineOf = ([key, ...rest]: readonly string[], value: unknown): string | undefined => {
  if (value === undefined) return undefined
  const text = value instanceof Map ? `{ ${[...value].map(([name, one]) => `${name}: ${one}`).join(', ')} }` : value
  if (rest.length > 0) return `${key}: { ${lineOf(rest, value)} }`
  return `${key}: ${Array.isArray(text) ? `[${text.join(', ')}]` : text}`
}

const releasedSafeguards = (
  kept: readonly Kept[],
  { project, base, head, now, branchName, imagined }: Versions,
): readonly Released[] => {
  const [was, is] = [safeguardsOf(base), safeguardsOf(head)]
  const named = (id: string): NamedBranch => imagined.get(id) ?? branchName(id)
  const ofBranch = ({ id }: ObservedBranch, safeguard: 'protect' | 'prune'): Released => {
    const [before, after] = safeguard === 'protect' ? ['true', 'false'] : ['false', 'true']
    return { kind: 'safeguard', project: project.id, branch: named(id), safeguard, before, after }
  }
  const places = [
    ...kept.map(({ live }) => ({ id: live.id, branch: live.branchId, compute: livePlanned(live) })),
    ...base.claims.flatMap(({ branch, slot, type, desired }) =>
      imagined.has(branch.id)
        ? [{ slot, branch: branch.id, compute: defined({ type, name: desired.attributes.name }) }]
        : [],
    ),
  ]
  return [
    ...base.branches.flatMap(({ branch, shape }) =>
      shape.protect && !is.protects(branch.id) ? [ofBranch(branch, 'protect')] : [],
    ),
    ...head.branches.flatMap(({ branch, prune }) =>
      prune && !was.prunes(branch.id) ? [ofBranch(branch, 'prune')] : [],
    ),
    ...places.flatMap(({ compute, ...place }): readonly Released[] => {
      const [before, after] = [was.windowOf(place), is.windowOf(place)]
      if (before === undefined || !opensMore(before, after, now)) return []
      return [
        {
          kind: 'safeguard',
          project: project.id,
          branch: named(place.branch),
          safeguard: 'restartWindow',
          compute,
          before: formatWindow(before),
          after: windowText(after),
        },
      ]
    }),
  ]
}

const windowText = (window: RestartWindow | undefined): string =>
  window === undefined ? 'any time' : formatWindow(window)

const KINDS: readonly Released['kind'][] = ['compute', 'attribute', 'safeguard']

const byPlace = (a: Released, b: Released): number =>
  KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
  compare(a.project, b.project) ||
  compare(a.branch.name, b.branch.name) ||
  compare(b.compute?.type ?? '', a.compute?.type ?? '') ||
  compare(a.compute?.id ?? '', b.compute?.id ?? '')
