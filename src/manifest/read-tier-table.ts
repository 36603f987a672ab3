import type { Diagnostic, TierTable } from '../model/index.ts'
import type { TierTableValue } from './definition/tier-table.ts'
import * as shipped from './generated/validator.js'
import { onlyDocument } from './only-document.ts'
import type { ManifestFile } from './types.ts'

/** Parses a tier table. Returns it only if there are no problems. */
export const parseTierTable = (
  file: ManifestFile,
): { readonly table?: TierTable; readonly diagnostics: readonly Diagnostic[] } => {
  const diagnostics: Diagnostic[] = []
  const read = onlyDocument(file, shipped.tierTable, 'A tier table', diagnostics)
  return read === undefined || diagnostics.length > 0
    ? { diagnostics }
    : { table: read.value as unknown as TierTableValue as TierTable, diagnostics }
}
