import type { Command } from '../command.ts'
import { agentCommand } from './agent.ts'
import { applyCommand } from './apply.ts'
import { completionCommand } from './completion.ts'
import { computeCommand } from './compute.ts'
import { costCommand } from './cost.ts'
import { driftCommand } from './drift.ts'
import { explainCommand } from './explain.ts'
import { fmtCommand } from './fmt.ts'
import { importCommand } from './import.ts'
import { initCommand } from './init.ts'
import { operationsCommand } from './operations.ts'
import { planCommand } from './plan.ts'
import { reportCommand } from './report.ts'
import { sandboxCommand } from './sandbox.ts'
import { showCommand } from './show.ts'
import { sizesCommand } from './sizes.ts'
import { snapshotCommand } from './snapshot.ts'
import { statusCommand } from './status.ts'
import { validateCommand } from './validate.ts'

/** In the order in which help lists them. */
export const COMMANDS: readonly Command[] = [
  initCommand,
  validateCommand,
  planCommand,
  applyCommand,
  importCommand,
  fmtCommand,
  showCommand,
  reportCommand,
  driftCommand,
  statusCommand,
  costCommand,
  operationsCommand,
  computeCommand,
  snapshotCommand,
  explainCommand,
  sizesCommand,
  agentCommand,
  sandboxCommand,
  completionCommand,
]
