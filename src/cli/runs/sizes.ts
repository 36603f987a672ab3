import { readSizeTable } from '../../manifest/index.ts'
import { EXIT, type ExitCode, SIZE_TABLE, TIER_TABLE } from '../../model/index.ts'
import { sizesTable } from '../../report/index.ts'
import type { SizesFlags } from '../commands/sizes.ts'
import type { Io } from '../io.ts'
import { print, styleOf } from '../terminal.ts'

export const runSizes = async (flags: SizesFlags, io: Io): Promise<ExitCode> => {
  if (flags.tiers === true) {
    print(JSON.stringify(TIER_TABLE, null, 2), io.stdout)
    return EXIT.ok
  }
  const table = flags.sizeTable === undefined ? SIZE_TABLE : await readSizeTable(io.locate(flags.sizeTable))
  print(
    flags.format === 'json' ? JSON.stringify(table, null, 2) : sizesTable(table, styleOf(io.stdout, flags, io.env)),
    io.stdout,
  )
  return EXIT.ok
}
