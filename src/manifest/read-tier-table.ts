import type { Diagnostic, TierTable } from '../model/index.ts'
import type { TierTableValue } from './definition/tier-table.ts'
import type { ManifestFile } from './types.ts'
import { onlyDocument } from './valid-part.ts'

/** Returns a tier table only if there are no problems. Loads its validator on demand, because few runs need it. */
export const parseTierTable = async (
  file: ManifestFile,
): Promise<{ readonly table?: TierTable; readonly diagnostics: readonly Diagnostic[] }> => {
  const { tierTable } = await import('./generated/tier-table.js')
  const diagnostics: Diagnostic[] = []
  const read = onlyDocument(file, tierTable, 'A tier table', diagnostics)
  return read === undefined || diagnostics.length > 0
    ? { diagnostics }
    : { table: read.value as unknown as TierTableValue as TierTable, diagnostics }
}
