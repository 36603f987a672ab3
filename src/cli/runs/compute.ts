import { createWriteApi, type Operation, snapshot, systemClock, type WriteApi } from '../../api/index.ts'
import { waitForOperations } from '../../apply/index.ts'
import {
  apiPath,
  EspalierError,
  EXIT,
  type ExitCode,
  isIdle,
  type ObservedCompute,
  type StepRequest,
} from '../../model/index.ts'
import { plainText } from '../../report/index.ts'
import { askYes } from '../ask.ts'
import { chooseCompute, type NamedCompute } from '../compute-ref.ts'
import { type ApiFlags, connect } from '../connect.ts'
import { durationMs } from '../flags.ts'
import { oneProject } from '../project.ts'
import { canAsk, print } from '../terminal.ts'

export interface ComputeFlags extends ApiFlags {
  readonly refs: readonly string[]
  readonly project?: string | undefined
  readonly autoApprove?: boolean | undefined
  readonly operationTimeout: string
  readonly lockTimeout: string
}

export type ComputeCommand = 'start' | 'suspend' | 'restart' | 'delete'

type Target = NamedCompute & { readonly ref: string; readonly observed: ObservedCompute }

/** Says what it does to whom, asks, does it one after the other, and waits for each. */
export const runCompute = async (command: ComputeCommand, flags: ComputeFlags): Promise<ExitCode> => {
  const timeoutMs = durationMs('operation-timeout', flags.operationTimeout)
  const lockTimeoutMs = durationMs('lock-timeout', flags.lockTimeout)
  const project = await oneProject(flags.project)
  const connection = await connect(flags)
  const api = createWriteApi({ ...connection.options, lockTimeoutMs })
  try {
    const targets = await targetsOf(api, project, flags.refs)
    const work = targets.filter((target) => isNeeded(command, target))
    for (const target of targets) print(`${command} ${titleOf(target)}  ${effectOf(command, target)}`)
    if (work.length === 0) return EXIT.ok
    if (!(await isAgreed(command, flags))) {
      print('Nothing was changed.', process.stderr)
      return EXIT.error
    }
    for (const target of work) await carryOut(api, project, command, target, timeoutMs)
    return EXIT.ok
  } finally {
    await api.close()
    await connection.close()
  }
}

const targetsOf = async (api: WriteApi, project: string, refs: readonly string[]): Promise<readonly Target[]> => {
  const { projects } = await snapshot(api, [project])
  const [seen] = projects
  if (seen === undefined) {
    throw new EspalierError('E_PROJECT_UNKNOWN', `There is no project ${project}, or the key cannot see it.`, {
      hint: 'Check the id and the key.',
    })
  }
  const branches = new Map(seen.branches.map(({ id, name }) => [id, name]))
  const known = seen.computes.map((observed) => ({
    id: observed.id,
    projectId: project,
    branchId: observed.branchId,
    branchName: branches.get(observed.branchId) ?? observed.branchId,
    type: observed.type,
    ...(observed.attributes.name === undefined ? {} : { name: observed.attributes.name }),
    observed,
  }))
  return refs.map((ref) => ({ ...chooseCompute(ref, known), ref }))
}

const isNeeded = (command: ComputeCommand, { ref, observed, projectId }: Target): boolean => {
  if (command === 'restart' && isIdle(observed)) {
    throw new EspalierError(
      'E_IDLE',
      `${plainText(ref)} is idle, and only an active compute can be restarted (spec 4.7).`,
      {
        hint: `Wake it instead: espalier compute start ${plainText(ref)} --project ${projectId}`,
      },
    )
  }
  if (command === 'start' && observed.attributes.disabled === true) {
    throw new EspalierError('E_DISABLED', `${plainText(ref)} is disabled, and does not start.`, {
      hint: 'Enable it in its manifest (disabled: false) and apply.',
    })
  }
  if (command === 'start') return observed.state !== 'active'
  return command === 'suspend' ? !isIdle(observed) : true
}

const effectOf = (command: ComputeCommand, { observed }: Target): string => {
  const idle = isIdle(observed)
  switch (command) {
    case 'start':
      return observed.state === 'active' ? 'it is active already' : 'no one is interrupted'
    case 'suspend':
      return idle ? 'it is idle already' : 'existing connections end; the next one wakes it'
    case 'restart':
      return 'existing connections drop'
    case 'delete':
      return `${idle ? '' : 'existing connections end; '}its host is lost for good`
  }
}

const isAgreed = async (command: ComputeCommand, flags: ComputeFlags): Promise<boolean> => {
  if (command === 'start' || flags.autoApprove === true) return true
  if (canAsk()) return askYes(`\nRun this ${command}? Only 'yes' will be accepted: `)
  throw new EspalierError('E_CONSENT', 'Nobody can be asked here, and nothing is changed without a yes.', {
    hint: 'Give --auto-approve.',
  })
}

const carryOut = async (
  api: WriteApi,
  project: string,
  command: ComputeCommand,
  target: Target,
  timeoutMs: number,
): Promise<void> => {
  const { operations } = await api.send(requestOf(project, command, target.id), {
    onWait: ({ message }) => print(`  waiting: ${plainText(message)}`),
  })
  const waited = await waitForOperations(operations, {
    api,
    clock: systemClock,
    project,
    timeoutMs,
    signal: undefined,
    onProgress: async ({ action, status }) => print(plainText(`  ${action}  ${status}`)),
  })
  if (!waited.ok) throw new EspalierError('E_OPERATION', waited.message)
  print(`done  ${command} ${titleOf(target)}${tookOf(operations)}`)
}

const requestOf = (project: string, command: ComputeCommand, id: string): StepRequest =>
  command === 'delete'
    ? { method: 'DELETE', path: apiPath(project, 'endpoints', id) }
    : { method: 'POST', path: apiPath(project, 'endpoints', id, command) }

const tookOf = (operations: readonly Operation[]): string => (operations.length === 0 ? '  nothing was to be done' : '')

const titleOf = ({ type, name, branchName, id }: Target): string => {
  const role = type === 'read_write' ? 'primary' : name === undefined ? 'replica' : `replica "${name}"`
  return plainText(`${role} on ${branchName} (${id})`)
}
