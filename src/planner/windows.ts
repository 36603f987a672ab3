/** When steps that interrupt may run: in the window of their compute, and of what they make room for. */
import {
  type Desired,
  type DesiredCompute,
  type DesiredShape,
  type Diagnostic,
  formatWindow,
  isAbsence,
  type ObservedProject,
  type RestartWindow,
} from '../model/index.ts'
import { warning } from './diagnostics.ts'
import type { Draft } from './drafts.ts'
import { match } from './match.ts'
import type { Places } from './places.ts'
import { type ResolvedBranch, resolve } from './resolve.ts'
import type { StepDraft } from './steps.ts'

export interface Windowed {
  readonly drafts: readonly Draft[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * The drafts, with windows on each step that interrupts, or would if its compute were active. A step that makes room for
 * another one waits for the windows of both, since the branch would stay without a primary in between.
 *
 * @param guard another version of the manifests (the git base): its windows hold until this one takes its place.
 */
export const keepToWindows = (
  drafts: readonly Draft[],
  { freedBy }: Places,
  project: ObservedProject,
  branches: readonly ResolvedBranch[],
  guard: Desired | undefined,
): Windowed => {
  const declared = windowsOf(branches)
  const held = windowsDeclared(project, guard)
  const windows = new Map<string, Set<RestartWindow>>()
  const diagnostics: Diagnostic[] = []
  for (const { change, steps } of drafts) {
    const [own, before] = [windowOf(change, declared), windowOf(change, held)]
    const window = before ?? own
    if (window === undefined || !steps.some(mayInterrupt)) continue
    if (before !== undefined && (own === undefined || formatWindow(own) !== formatWindow(before))) {
      diagnostics.push(
        warning(
          'W_WINDOW_CHANGED',
          `The restart window of ${change.compute.id} on branch \`${change.branch.name}\` of project \`${change.project}\` is ${formatWindow(before)} in the base manifest and ${own === undefined ? 'gone' : formatWindow(own)} here.`,
          'The plan keeps to the base manifest until the change is merged.',
          change.source,
        ),
      )
    }
    // What is made anew in another place needs that place, and its own deletion waits.
    for (const draft of steps) {
      for (const one of wayOf(draft, freedBy)) if (mayInterrupt(one)) add(windows, one.step.id, window)
    }
  }
  return { drafts: windows.size === 0 ? drafts : drafts.map((draft) => withWindows(draft, windows)), diagnostics }
}

const mayInterrupt = ({ step }: StepDraft): boolean => step.impact !== 'none' || step.unlessIdle !== undefined

/** The step, and the steps that make room for it one after the other. */
const wayOf = (start: StepDraft, freedBy: Places['freedBy']): ReadonlySet<StepDraft> => {
  const way = new Set<StepDraft>()
  let current: StepDraft | undefined = start
  while (current !== undefined && !way.has(current)) {
    way.add(current)
    current = current.fills === undefined ? undefined : freedBy.get(current.fills)
  }
  return way
}

const add = (windows: Map<string, Set<RestartWindow>>, step: string, window: RestartWindow): void => {
  const known = windows.get(step) ?? new Set()
  windows.set(step, known)
  if (![...known].some((one) => formatWindow(one) === formatWindow(window))) known.add(window)
}

const withWindows = ({ change, steps }: Draft, windows: ReadonlyMap<string, ReadonlySet<RestartWindow>>): Draft => {
  const held = steps.map((one) => {
    const own = windows.get(one.step.id)
    return own === undefined ? one : { ...one, step: { ...one.step, windows: sorted(own) } }
  })
  const all = new Set(held.flatMap(({ step }) => step.windows ?? []))
  return all.size === 0 ? { change, steps: held } : { change: { ...change, windows: sorted(all) }, steps: held }
}

/** The same bytes whatever the order in which they were found. */
const sorted = (windows: ReadonlySet<RestartWindow>): readonly RestartWindow[] =>
  [...windows].sort((a, b) => (formatWindow(a) < formatWindow(b) ? -1 : 1))

/**
 * By place (`BRANCH_ID/primary`, `BRANCH_ID/replica/KEY`), by the id of a live compute, and by branch id for what nothing
 * declares there.
 */
type Windows = ReadonlyMap<string, RestartWindow | 'always'>

const windowsOf = (branches: readonly ResolvedBranch[]): Windows => {
  const windows = new Map<string, RestartWindow | 'always'>()
  for (const { branch, shape, restartWindow } of branches) {
    if (restartWindow !== undefined) windows.set(branch.id, restartWindow)
    for (const [slot, compute] of computesOf(shape))
      windows.set(`${branch.id}/${slot}`, compute.restartWindow ?? 'always')
  }
  return windows
}

/** What manifests say of a live compute counts wherever it is to be, and whether it is to be. */
export const windowsDeclared = (project: ObservedProject, desired: Desired | undefined): Windows => {
  const documents = desired?.documents.filter((document) => document.project === project.id) ?? []
  if (documents.length === 0) return new Map()
  const { branches } = resolve(project, documents)
  const live = match(project, branches, {}).claims.flatMap(({ observed, desired }) =>
    observed === undefined ? [] : [[observed.id, desired.restartWindow ?? 'always'] as const],
  )
  return new Map([...windowsOf(branches), ...live])
}

const computesOf = ({ primary, replicas }: DesiredShape): readonly (readonly [string, DesiredCompute])[] => [
  ...(primary === undefined || isAbsence(primary) ? [] : [['primary', primary] as const]),
  ...replicas.map((replica) => [`replica/${replica.key}`, replica] as const),
]

const windowOf = ({ id, project, branch, compute }: Draft['change'], windows: Windows): RestartWindow | undefined =>
  windowFor([compute.id ?? '', id.slice(project.length + 1), branch.id], windows)

/** The first that says anything. */
export const windowFor = (keys: readonly string[], windows: Windows): RestartWindow | undefined => {
  const window = keys.map((key) => windows.get(key)).find((one) => one !== undefined)
  return window === 'always' ? undefined : window
}
