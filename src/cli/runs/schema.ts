import { eventSchema, planFileSchema, planSchema } from '../../apply/index.ts'
import { manifestSchema } from '../../manifest/index.ts'
import { EXIT, type ExitCode } from '../../model/index.ts'
import type { Io } from '../io.ts'
import { print } from '../terminal.ts'

const SCHEMAS: Readonly<Record<string, () => object>> = {
  manifest: () => manifestSchema(),
  plan: planSchema,
  'plan-file': planFileSchema,
  event: eventSchema,
}

export const runSchema = async ({ name }: { readonly name: string }, io: Io): Promise<ExitCode> => {
  print(JSON.stringify(SCHEMAS[name]?.() ?? {}, null, 2), io.stdout)
  return EXIT.ok
}
