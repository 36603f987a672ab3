/** Interrupts the program at every relevant moment. The next `apply` makes the project match its manifest. */
import { test } from 'vitest'
import type { FaultOrder, Sandbox } from '../../src/sandbox/index.ts'
import { type Ended, type Running, start } from '../e2e/espalier.ts'
import { STEPS, type TenSteps, tenSteps } from '../e2e/ten-steps.ts'

/** The phases of a step as the server sees them: the change, the wait for its operations, the final read. */
const MOMENTS = {
  'the request has taken effect but its response has not been sent': (method: string, _path: string) =>
    method !== 'GET',
  'operations of the step are running': (method: string, path: string) =>
    method === 'GET' && path.endsWith('/operations'),
  'the step has been verified and the next step has not begun': (method: string, path: string) =>
    method === 'GET' && /\/endpoints\/[^/]+$/.test(path),
} as const

type Moment = keyof typeof MOMENTS

const everyBoundary: readonly (readonly [number, Moment])[] = [
  // Nothing was sent yet: the last request before the first step reads past operations.
  [0, 'operations of the step are running'],
  ...Array.from({ length: STEPS }, (_, index) => index + 1).flatMap((step): [number, Moment][] => [
    [step, 'the request has taken effect but its response has not been sent'],
    [step, 'the step has been verified and the next step has not begun'],
  ]),
  // A create and an update that are still running when the next apply starts. Moves and deletes have no operations.
  ...[2, 7].map((step): [number, Moment] => [step, 'operations of the step are running']),
]

/** The second create and the second update run for two seconds, so that they are sure to be running at the kill. */
const SLOW: readonly FaultOrder[] = ['start_compute', 'apply_config'].map((action) => ({
  on: 'operation',
  action,
  after: 1,
  effect: { kind: 'slow', ms: 100_000 },
}))

const runningOperations = ({ control }: Sandbox): readonly string[] =>
  control
    .dump()
    .changes.flatMap((change) =>
      'put' in change && change.put.kind === 'operation' && change.put.status === 'running' ? change.put.action : [],
    )

/** Interrupts when step number `step` reaches that moment. */
const interruptAt = async <R extends Running>(
  step: number,
  moment: Moment,
  begin: (ten: TenSteps) => R,
  interrupt: (running: R) => unknown,
  prepare: (sandbox: Sandbox) => unknown = () => undefined,
) => {
  let running: R | undefined
  let isDue = true
  let operations: readonly string[] = []
  const ten = await tenSteps({
    onRequest: (method, path, changes) => {
      if (!isDue || changes !== step || !MOMENTS[moment](method, path) || running === undefined) return
      isDue = false
      operations = runningOperations(ten.sandbox)
      interrupt(running)
    },
  })
  prepare(ten.sandbox)
  running = begin(ten)
  const ended = await running.ended
  return { ten, ended, operations }
}

const asProcess = (ten: TenSteps) => ten.apply()
/** On a terminal, processes are interrupted too (on-terminal.test.ts). */
const inProcess = (ten: TenSteps): Running => {
  const { args, env } = ten.command()
  return start(args, env)
}

// promise: no-state, kill
test.concurrent.for(everyBoundary)(
  'after a kill -9 during step %i, when %s, the next apply converges',
  async ([step, moment], { expect }) => {
    const isRunning = step > 0 && moment === 'operations of the step are running'
    const { ten, ended, operations } = await interruptAt(
      step,
      moment,
      asProcess,
      ({ child }) => child.kill('SIGKILL'),
      ({ control }) => isRunning && SLOW.forEach(control.addFault),
    )
    try {
      expect(ended.code, ended.stdout + ended.stderr).toBeNull()
      if (isRunning) expect(operations).toEqual([step === 2 ? 'start_compute' : 'apply_config'])
      expect(await ten.applyAgain()).toEqual([])
    } finally {
      await ten.close()
    }
  },
)

test.concurrent('if a change is first rejected because of a lock, the next apply converges after a kill -9 during its step', async ({
  expect,
}) => {
  // The ninth step is the first delete.
  const lock = { on: 'request', method: 'DELETE', effect: { kind: 'lock' } } as const
  const { ten, ended } = await interruptAt(
    9,
    'the step has been verified and the next step has not begun',
    asProcess,
    ({ child }) => child.kill('SIGKILL'),
    ({ control }) => control.addFault(lock),
  )
  try {
    expect(ended.code, ended.stdout + ended.stderr).toBeNull()
    expect(await ten.applyAgain()).toEqual([])
  } finally {
    await ten.close()
  }
})

const tally = ({ stdout }: Ended): string => /^Apply \w+: .*?\./m.exec(stdout)?.[0] ?? stdout

// promise: interrupt
test.concurrent.for(['SIGINT', 'SIGTERM'] as const)(
  'after one %s, apply completes the running step, starts no other, and says how to continue',
  async (signal, { expect }) => {
    const { ten, ended } = await interruptAt(
      4,
      'the request has taken effect but its response has not been sent',
      inProcess,
      (running) => running.interrupt(signal),
    )
    try {
      expect(ended.code, ended.stdout + ended.stderr).toBe(130)
      expect(ended.stderr).toContain(
        "Stopping: no new step starts, except to restore a branch's primary. Running steps complete. Press Ctrl-C again to stop immediately.",
      )
      expect(tally(ended)).toBe('Apply incomplete: 4 done, 6 skipped.')
      expect(ended.stdout).toMatch(
        /Next: to continue, run\s+`espalier\s+apply\s+\S+\s+--allow\s+restart,move,delete`\s+again\./,
      )
      expect(await ten.applyAgain()).toEqual([])
    } finally {
      await ten.close()
    }
  },
)

// promise: interrupt-twice
test.concurrent('after a second SIGINT, apply exits immediately and reports the interrupted step', async ({
  expect,
}) => {
  const { ten, ended } = await interruptAt(
    4,
    'the request has taken effect but its response has not been sent',
    inProcess,
    (running) => {
      running.interrupt()
      void running.says('Stopping: ').then(() => running.interrupt())
    },
  )
  try {
    expect(ended.code, ended.stdout + ended.stderr).toBe(130)
    expect(ended.stderr).toContain('Stopping immediately. To continue, apply the manifests again.')
    expect(tally(ended)).toBe('Apply incomplete: 3 done, 1 failed, 6 skipped.')
    expect(ended.stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /\(interrupted\): Interrupted while it was running\. To continue, run `espalier apply \S+ --allow restart,move,delete` again\./,
    )
    expect(await ten.applyAgain()).toEqual([])
  } finally {
    await ten.close()
  }
})
