/** Checks a dumped world before it is loaded: it comes from a file that anyone may have written. */
import { z } from 'zod'
import { worldChange } from '../world/records.ts'
import type { WorldDump } from './control.ts'

const dump = z.strictObject({ version: z.literal(1), changes: z.array(worldChange) })

export const isWorldDump = (value: unknown): value is WorldDump => dump.safeParse(value).success
