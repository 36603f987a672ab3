import type { Command } from '../command.ts'
import { applyCommand } from './apply.ts'
import { completionCommand } from './completion.ts'
import { operationsCommand } from './operations.ts'
import { planCommand } from './plan.ts'
import { sandboxCommand } from './sandbox.ts'
import { schemaCommand } from './schema.ts'
import { sizesCommand } from './sizes.ts'
import { statusCommand } from './status.ts'
import { validateCommand } from './validate.ts'

/** In the order in which help lists them. */
export const COMMANDS: readonly Command[] = [
  validateCommand,
  planCommand,
  applyCommand,
  statusCommand,
  operationsCommand,
  sizesCommand,
  schemaCommand,
  sandboxCommand,
  completionCommand,
]
