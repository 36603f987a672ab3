import { snapshot, type WriteApi } from '../../api/index.ts'
import { ExpectedState, movedCompute, movedWords, waitForOperations } from '../../apply/index.ts'
import { type Clock, defined, EspalierError, EXIT, onceEach, plainText, shellWord } from '../../base/index.ts'
import {
  apiPath,
  computeTitle,
  formatWindow,
  hasErrors,
  isIdle,
  type Moved,
  type ObservedCompute,
  type ObservedProject,
  type StepRequest,
} from '../../model/index.ts'
import { openingOf } from '../../model/window-opening.ts'
import { type ComputePermissions, permissionsIn } from '../../planner/index.ts'
import { readManifests, withClient } from '../../workflow/index.ts'
import { type Command, commandOf, type Description, type ValuesOf } from '../command.ts'
import { chooseCompute, type NamedCompute } from '../setup/compute-ref.ts'
import { openWriteApi } from '../setup/connect.ts'
import { CONNECTION_FLAGS, ONE_PROJECT, TIMEOUT_FLAG, toggle } from '../setup/flags.ts'
import type { Io } from '../setup/io.ts'
import { oneProject, unknownProject } from '../setup/live-projects.ts'
import { ifAny } from '../setup/manifests.ts'
import { askYes, requireTerminal } from '../terminal/ask.ts'
import { print } from '../terminal/terminal.ts'

const CHANGED = '4   a compute or its branch has changed since it was read, so no request was sent for it'
const CLOSED = '5   a restart window is closed, so no more requests were sent'

const WITHIN_WINDOWS = `Shows the effect on connections, asks for confirmation, and waits for the operations to end. The
restart windows in the current folder's manifests apply, unless you pass --now.

Exit codes:
  0   done, or nothing to do
  1   you declined, an operation failed or timed out, or another error
  ${CHANGED}
  ${CLOSED}`

const NOTES: Readonly<Record<ComputeAction, string>> = {
  start: `Shows the effect on connections, and waits for the operations to end. Needs no confirmation, and
ignores restart windows.

Exit codes:
  0   done, or nothing to do
  1   an operation failed or timed out, or another error
  ${CHANGED}`,
  suspend: WITHIN_WINDOWS,
  restart: WITHIN_WINDOWS,
  delete: `Shows the effect on connections, asks for confirmation, and waits for the operations to end.

The manifests in the current folder apply: no flag overrides \`protect: true\`, and restart windows
apply unless you pass --now.

Exit codes:
  0   done
  1   you declined, a compute is protected, an operation failed or timed out, or another error
  ${CHANGED}
  ${CLOSED}`,
}

const describe = (action: ComputeAction) =>
  ({
    positionals: {
      refs: { describe: 'Computes, each given as an id, BRANCH (for its primary) or BRANCH/REPLICA', array: true },
    },
    flags: {
      project: ONE_PROJECT,
      now: toggle('', 'Interrupt computes even while their restart windows are closed'),
      'auto-approve': toggle('', 'Do not ask for confirmation', { alias: 'yes' }),
      ...TIMEOUT_FLAG,
      ...CONNECTION_FLAGS,
    },
    examples: [[`$0 compute ${action} staging`, 'Refer to a primary by its database branch']],
    notes: NOTES[action],
  }) as const satisfies Description

type ComputeFlags = ValuesOf<ReturnType<typeof describe>>

type ComputeAction = 'start' | 'suspend' | 'restart' | 'delete'

type Target = NamedCompute & {
  readonly ref: string
  readonly observed: ObservedCompute
  readonly projectName: string
}

/** Shows the effect and, except for a start, asks for confirmation. Then changes one compute after another, and waits for each change. */
const computeCommand = (command: ComputeAction): Command =>
  commandOf(describe(command), async (flags, io) => {
    const find = await oneProject(flags.project, io, flags.invocation)
    return withClient(openWriteApi(flags, flags.timeout, io), async (api) => {
      const project = await find(api)
      const live = await readProject(api, project)
      const targets = targetsOf(live, flags.refs)
      const work = targets.filter((target) => isNeeded(command, target))
      const overridden = new Set(await outsideWindows(command, live, work, 'Nothing was changed.', flags, io))
      for (const target of targets)
        print(announcement(command, target, work.includes(target), overridden.has(target.id)), io.stdout)
      if (work.length === 0) return EXIT.ok
      if (!(await isConfirmed(command, flags, io))) {
        print('Nothing was changed.', io.stderr)
        return EXIT.error
      }
      for (const [index, target] of work.entries()) {
        // A restart window may have closed while the command waited for the answer, a lock or an earlier compute.
        const effect = index === 0 ? 'Nothing was changed.' : 'No further request was sent.'
        const check = async () => void (await outsideWindows(command, live, work.slice(index), effect, flags, io))
        await check()
        await perform(api, live, command, target, check, flags.timeout, io)
      }
      return EXIT.ok
    })
  })

export const startCommand = computeCommand('start')
export const suspendCommand = computeCommand('suspend')
export const restartCommand = computeCommand('restart')
export const deleteCommand = computeCommand('delete')

const readProject = async (api: WriteApi, project: string): Promise<ObservedProject> => {
  const { projects } = await snapshot(api, [project])
  const [seen] = projects
  if (seen !== undefined) return seen
  throw unknownProject(project)
}

const targetsOf = (live: ObservedProject, refs: readonly string[]): readonly Target[] => {
  const branches = new Map(live.branches.map(({ id, name }) => [id, name]))
  const known = live.computes.map((observed) => ({
    id: observed.id,
    projectId: live.id,
    projectName: live.name ?? live.id,
    branchId: observed.branchId,
    branchName: branches.get(observed.branchId) ?? observed.branchId,
    type: observed.type,
    ...defined({ name: observed.attributes.name }),
    observed,
  }))
  return onceEach(refs.map((ref) => ({ ...chooseCompute(ref, known), ref })))
}

/**
 * @param effect what the command has done so far, for errors.
 * @returns the ids of the computes whose restart window is closed, but overridden by `--now`.
 */
const outsideWindows = async (
  command: ComputeAction,
  live: ObservedProject,
  work: readonly Target[],
  effect: string,
  { now }: ComputeFlags,
  io: Io,
): Promise<readonly string[]> => {
  if (command === 'start' || work.length === 0) return []
  const permissionsFor = await permissionsHere(live, io)
  const interruptions = work.map((target) => ({
    id: target.id,
    title: titleOf(target),
    isDelete: command === 'delete',
    permissions: permissionsFor(target.observed),
  }))
  return enforcePermissions(interruptions, now === true, effect, io.clock).map(({ id }) => id)
}

const isNeeded = (command: ComputeAction, { ref, observed, projectId }: Target): boolean => {
  if (command === 'restart' && isIdle(observed)) {
    throw new EspalierError('E_IDLE', `${plainText(ref)} is idle; only an active compute can be restarted.`, {
      hint: `To wake it instead, run \`espalier compute start ${shellWord(ref)} --project ${projectId}\`.`,
    })
  }
  if (command === 'start' && observed.attributes.disabled === true) {
    throw new EspalierError('E_DISABLED', `${plainText(ref)} is disabled and cannot be started.`, {
      hint: 'Set `disabled: false` in its manifest, then run `espalier apply`.',
    })
  }
  if (command === 'start') return observed.state !== 'active'
  return command === 'suspend' ? !isIdle(observed) : true
}

const announcement = (command: ComputeAction, target: Target, isNeeded: boolean, isOverridden: boolean): string => {
  if (!isNeeded)
    return `Nothing to do: ${titleOf(target)} in ${plainText(target.projectName)} is already ${command === 'start' ? 'active' : 'idle'}.`
  const window = isOverridden ? '; its restart window is closed, but --now overrides it' : ''
  return `Will ${command} ${titleOf(target)} in ${plainText(target.projectName)}: ${effectOf(command, target)}${window}.`
}

const effectOf = (command: ComputeAction, { observed }: Target): string => {
  switch (command) {
    case 'start':
      return 'no one is interrupted'
    case 'suspend':
      return 'existing connections end, and the next connection wakes it'
    case 'restart':
      return 'existing connections drop'
    case 'delete':
      return `${isIdle(observed) ? '' : 'existing connections end, and '}its hostname is lost permanently`
  }
}

const isConfirmed = async (command: ComputeAction, flags: ComputeFlags, io: Io): Promise<boolean> => {
  if (command === 'start' || flags.autoApprove === true) return true
  requireTerminal(io, 'Use --auto-approve.')
  return askYes(`\nRun this ${command}? Only 'yes' will be accepted: `, io)
}

const perform = async (
  api: WriteApi,
  live: ObservedProject,
  command: ComputeAction,
  target: Target,
  check: () => Promise<void>,
  timeoutMs: number,
  io: Io,
): Promise<void> => {
  const project = live.id
  const expected = new ExpectedState({ takenAt: '', projects: [live], missing: [] })
  // Called before each attempt, because the branch may be renamed or the window may close while the project is locked.
  const before = async (): Promise<{ readonly send: undefined }> => {
    const moved = await movedCompute(project, target.id, { api, expected, clock: io.clock, abort: undefined })
    if (moved.length > 0) throw changed(target, moved)
    await check()
    return { send: undefined }
  }
  const { operations } = await api.sendUnless<never>(requestOf(project, command, target.id), before, {
    onWait: ({ message }) => print(`  waiting: ${plainText(message)}`, io.stdout),
  })
  const ids = operations.map(({ id }) => id).join(' ')
  const waited = await waitForOperations(operations, {
    api,
    clock: io.clock,
    project,
    timeoutMs,
    signal: undefined,
    afterTimeout: `To keep waiting, run \`espalier operations wait ${ids} --project ${project}\`.`,
    onProgress: async ({ action, status }) => print(plainText(`  ${action}  ${status}`), io.stdout),
  })
  if (!waited.ok) {
    throw new EspalierError(waited.reason === 'operation-timeout' ? 'E_TIMEOUT' : 'E_OPERATION', waited.message)
  }
  // If the request started no operation, the compute was already in this state. Only a delete may start none.
  const isDone = operations.length > 0 || command === 'delete'
  print(`done  ${command} ${titleOf(target)}${isDone ? '' : '  nothing to do'}`, io.stdout)
}

const changed = (target: Target, moved: readonly Moved[]): EspalierError =>
  new EspalierError(
    'E_STALE',
    `${titleOf(target)} has changed since it was read: ${plainText(moved.map(movedWords).join('; '))}. Nothing was sent for it.`,
    { hint: 'Run the command again.', exitCode: EXIT.stale },
  )

const requestOf = (project: string, command: ComputeAction, id: string): StepRequest =>
  command === 'delete'
    ? { method: 'DELETE', path: apiPath(project, 'endpoints', id) }
    : { method: 'POST', path: apiPath(project, 'endpoints', id, command) }

const titleOf = ({ type, name, branchName, id }: Target): string =>
  plainText(`${computeTitle({ type, name })} on ${branchName} (${id})`)

// Makes the `compute` commands respect protection and restart windows in the current folder's manifests.

/** If the current folder has no manifests, only the service's own branch protection applies. */
const permissionsHere = async (
  project: ObservedProject,
  { cwd }: Io,
): Promise<(compute: ObservedCompute) => ComputePermissions> => {
  const manifests = await ifAny(readManifests([], { cwd }))
  if (manifests !== undefined && hasErrors(manifests.loaded.diagnostics)) {
    throw new EspalierError(
      'E_MANIFESTS',
      'The manifests in the current folder have errors, so it is not known which computes they protect.',
      {
        hint: 'Correct them (`espalier validate` shows the errors), or run this command in a folder without them.',
      },
    )
  }
  return permissionsIn(manifests?.loaded.desired ?? { documents: [] }, project)
}

/** A compute that would be deleted, or whose connections would end. */
interface Interruption {
  /** How messages refer to the compute. */
  readonly title: string
  readonly isDelete: boolean
  readonly permissions: ComputePermissions
}

/**
 * @param effect what the command has done so far, for errors.
 * @returns the computes whose restart window is closed, but overridden by `now`.
 * @throws {EspalierError} `E_PROTECTED`, which no flag overrides; `E_OUTSIDE_WINDOW` without `now`.
 */
const enforcePermissions = <T extends Interruption>(
  all: readonly T[],
  now: boolean,
  effect: string,
  clock: Clock,
): readonly T[] => {
  const violations = all.flatMap(({ title, isDelete, permissions: { undeletable } }) =>
    isDelete && undeletable !== undefined ? [`${title} cannot be deleted: ${plainText(undeletable)}.`] : [],
  )
  if (violations.length > 0) {
    throw new EspalierError('E_PROTECTED', `${violations.join('\n')}\n${effect}`, {
      hint: 'No flag overrides this. Remove the protection, run the command again, and restore the protection.',
    })
  }
  const closed = all.filter(({ permissions: { window } }) => window !== undefined && !opening(window, clock).isOpen)
  if (closed.length > 0 && !now) {
    throw new EspalierError(
      'E_OUTSIDE_WINDOW',
      `${closed.map((one) => closedMessage(one, clock)).join('\n')}\n${effect}`,
      {
        hint: 'Run the command again while the window is open, or use --now to interrupt immediately.',
        exitCode: EXIT.scheduled,
      },
    )
  }
  return closed
}

const opening = (window: NonNullable<ComputePermissions['window']>, clock: Clock) => openingOf([window], clock.now())

const closedMessage = ({ title, permissions: { window } }: Interruption, clock: Clock): string => {
  if (window === undefined) return title
  const { opensLocally } = opening(window, clock)
  const when = opensLocally === undefined ? 'which does not open within a year' : `which opens ${opensLocally}`
  return `${title} may be interrupted only in its restart window: ${plainText(formatWindow(window))}, ${when}.`
}
