import { snapshot, type WriteApi } from '../../api/index.ts'
import { waitForOperations } from '../../apply/index.ts'
import { defined, plainText } from '../../base/index.ts'
import {
  apiPath,
  computeTitle,
  EspalierError,
  EXIT,
  type ExitCode,
  isIdle,
  type ObservedCompute,
  type ObservedProject,
  type StepRequest,
} from '../../model/index.ts'
import { withClient } from '../../workflow/index.ts'
import { askYes, requireTerminal } from '../ask.ts'
import type { ComputeAction, ComputeFlags } from '../commands/compute.ts'
import { chooseCompute, type NamedCompute } from '../compute-ref.ts'
import { openWriteApi } from '../connect.ts'
import type { Io } from '../io.ts'
import { oneProject, unknownProject } from '../live-projects.ts'
import { enforcePermissions, permissionsHere } from '../safeguards.ts'
import { print } from '../terminal.ts'

type Target = NamedCompute & {
  readonly ref: string
  readonly observed: ObservedCompute
  readonly projectName: string
}

/** Shows the effect and asks for confirmation. Then changes one compute after another, and waits for each change. */
export const runCompute =
  (command: ComputeAction) =>
  async (flags: ComputeFlags, io: Io): Promise<ExitCode> => {
    const find = await oneProject(flags.project, io)
    return withClient(openWriteApi(flags, flags.timeout, io), async (api) => {
      const project = await find(api)
      const live = await readProject(api, project)
      const targets = targetsOf(live, flags.refs)
      const work = targets.filter((target) => isNeeded(command, target))
      const overridden = new Set(await outsideWindows(command, live, work, flags, io))
      for (const target of targets)
        print(announcement(command, target, work.includes(target), overridden.has(target.id)), io.stdout)
      if (work.length === 0) return EXIT.ok
      if (!(await isConfirmed(command, flags, io))) {
        print('Nothing was changed.', io.stderr)
        return EXIT.error
      }
      for (const target of work) await perform(api, project, command, target, flags.timeout, io)
      return EXIT.ok
    })
  }

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
  return refs.map((ref) => ({ ...chooseCompute(ref, known), ref }))
}

/** @returns the ids of the computes whose restart window is closed, but overridden by `--now`. */
const outsideWindows = async (
  command: ComputeAction,
  live: ObservedProject,
  work: readonly Target[],
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
  return enforcePermissions(interruptions, now === true, io.clock).map(({ id }) => id)
}

const isNeeded = (command: ComputeAction, { ref, observed, projectId }: Target): boolean => {
  if (command === 'restart' && isIdle(observed)) {
    throw new EspalierError('E_IDLE', `${plainText(ref)} is idle; only an active compute can be restarted.`, {
      hint: `To wake it instead, run: espalier compute start ${plainText(ref)} --project ${projectId}`,
    })
  }
  if (command === 'start' && observed.attributes.disabled === true) {
    throw new EspalierError('E_DISABLED', `${plainText(ref)} is disabled and cannot be started.`, {
      hint: 'Set disabled: false in its manifest, then run apply.',
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
  project: string,
  command: ComputeAction,
  target: Target,
  timeoutMs: number,
  io: Io,
): Promise<void> => {
  const { operations } = await api.send(requestOf(project, command, target.id), {
    onWait: ({ message }) => print(`  waiting: ${plainText(message)}`, io.stdout),
  })
  const waited = await waitForOperations(operations, {
    api,
    clock: io.clock,
    project,
    timeoutMs,
    signal: undefined,
    onProgress: async ({ action, status }) => print(plainText(`  ${action}  ${status}`), io.stdout),
  })
  if (!waited.ok) throw new EspalierError('E_OPERATION', waited.message)
  // If the request started no operation, the compute was already in this state. Only a delete may start none.
  const isDone = operations.length > 0 || command === 'delete'
  print(`done  ${command} ${titleOf(target)}${isDone ? '' : '  nothing to do'}`, io.stdout)
}

const requestOf = (project: string, command: ComputeAction, id: string): StepRequest =>
  command === 'delete'
    ? { method: 'DELETE', path: apiPath(project, 'endpoints', id) }
    : { method: 'POST', path: apiPath(project, 'endpoints', id, command) }

const titleOf = ({ type, name, branchName, id }: Target): string =>
  plainText(`${computeTitle({ type, name })} on ${branchName} (${id})`)
