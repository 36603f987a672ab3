/** Limits for manifests, which are untrusted data. */
import { type Words, words } from '../words/words.ts'

export const MAX_FILE_BYTES = 32 * 1024 * 1024
/** Total of all files of a run. */
export const MAX_TOTAL_BYTES = 64 * 1024 * 1024
export const MAX_DEPTH = 64
export const MAX_ALIASES = 1_000
/** YAML tokens (keys, values, newlines). A compute has about twenty, and a token takes about 500 bytes of memory. */
export const MAX_DOCUMENT_TOKENS = 400_000
export const MAX_TOTAL_TOKENS = 4_000_000
/** More problems would not help anyone. */
export const MAX_PROBLEMS = 1_000
/** Maximum length of a message or hint, in characters. */
export const LONGEST_MESSAGE = 500

export const FILE_TOO_LARGE: Words = words(
  'E_TOO_LARGE',
  'The file is larger than 32 MiB.',
  'Put each project in a separate file.',
)
