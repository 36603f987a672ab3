/** Lists all commands, each with the code that runs it. */
import type { Command, Run, Runnable, ValuesOf } from '../command.ts'
import * as agent from './agent.ts'
import { applyCommand } from './apply.ts'
import { completionCommand } from './completion.ts'
import * as compute from './compute.ts'
import { costCommand } from './cost.ts'
import { driftCommand } from './drift.ts'
import { explainCommand } from './explain.ts'
import { fmtCommand } from './fmt.ts'
import { importCommand } from './import.ts'
import { initCommand } from './init.ts'
import * as operations from './operations.ts'
import { planCommand } from './plan.ts'
import * as sandbox from './sandbox.ts'
import { showCommand } from './show.ts'
import { snapshotCommand } from './snapshot.ts'
import { statusCommand } from './status.ts'
import { validateCommand } from './validate.ts'

/** @param load imports the code that runs a command. It is called only when the command runs. */
const runs = <C extends Command>(command: C, load: (values: ValuesOf<C>) => Promise<Run<C>>): Runnable => ({
  ...command,
  run: async (parsed, io) => {
    const values = parsed as ValuesOf<C>
    return (await load(values))(values, io)
  },
})

/** All commands, in the order in which the help lists them. */
export const COMMANDS: readonly Runnable[] = [
  runs(initCommand, async () => (await import('../runs/init.ts')).runInit),
  runs(validateCommand, async () => (await import('../runs/validate.ts')).runValidate),
  runs(planCommand, async () => (await import('../runs/plan.ts')).runPlan),
  runs(applyCommand, async () => (await import('../runs/apply.ts')).runApply),
  runs(importCommand, async () => (await import('../runs/import.ts')).runImport),
  runs(fmtCommand, async () => (await import('../runs/fmt.ts')).runFmt),
  runs(showCommand, async ({ resolved }) =>
    resolved === true
      ? (await import('../runs/show-resolved.ts')).runShowResolved
      : (await import('../runs/show.ts')).runShow,
  ),
  runs(driftCommand, async () => (await import('../runs/drift.ts')).runDrift),
  runs(statusCommand, async () => (await import('../runs/status.ts')).runStatus),
  runs(costCommand, async () => (await import('../runs/cost.ts')).runCost),
  {
    ...operations.operationsCommand,
    subcommands: [
      runs(operations.listCommand, async () => (await import('../runs/operations.ts')).runOperationsList),
      runs(operations.getCommand, async () => (await import('../runs/operations.ts')).runOperationsGet),
      runs(operations.waitCommand, async () => (await import('../runs/operations.ts')).runOperationsWait),
      runs(operations.watchCommand, async () => (await import('../runs/operations.ts')).runOperationsWatch),
    ],
  },
  {
    ...compute.computeCommand,
    subcommands: compute.COMPUTE_ACTIONS.map((action) =>
      runs(compute.actionCommand(action), async () => (await import('../runs/compute.ts')).runCompute(action)),
    ),
  },
  runs(snapshotCommand, async () => (await import('../runs/snapshot.ts')).runSnapshot),
  runs(explainCommand, async () => (await import('../runs/explain.ts')).runExplain),
  {
    ...agent.agentCommand,
    subcommands: [
      runs(agent.runCommand, async () => (await import('../runs/agent-run.ts')).runAgent),
      runs(agent.statusCommand, async () => (await import('../runs/agent-ask.ts')).runAgentStatus),
      runs(agent.historyCommand, async () => (await import('../runs/agent-history.ts')).runAgentHistory),
      runs(agent.reconcileCommand, async () => (await import('../runs/agent-ask.ts')).runAgentReconcile),
      runs(agent.suspendCommand, async () => (await import('../runs/agent-ask.ts')).runAgentSuspend),
      runs(agent.resumeCommand, async () => (await import('../runs/agent-ask.ts')).runAgentResume),
    ],
  },
  {
    ...sandbox.sandboxCommand,
    subcommands: [
      runs(sandbox.serveCommand, async () => (await import('../runs/sandbox-serve.ts')).runSandboxServe),
      runs(sandbox.connectCommand, async () => (await import('../runs/sandbox-connect.ts')).runSandboxConnect),
    ],
  },
  runs(completionCommand, async () => (await import('../runs/completion.ts')).runCompletion),
]
