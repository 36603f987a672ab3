/** Limits for manifests, which are untrusted data. */
import { type Words, words } from '../words/words.ts'

export const MAX_FILE_BYTES = 32 * 1024 * 1024
/** Total of all files of a run. */
export const MAX_TOTAL_BYTES = 64 * 1024 * 1024
/** Maximum length of a message or hint, in characters. */
export const LONGEST_MESSAGE = 500

export const FILE_TOO_LARGE: Words = words(
  'E_TOO_LARGE',
  'The file is larger than 32 MiB.',
  'Put each project in a separate file.',
)
