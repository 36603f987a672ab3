/** Bounds on what is read: a manifest is data of unknown origin. */
export const MAX_FILE_BYTES = 32 * 1024 * 1024
/** Of all files of a run together. */
export const MAX_TOTAL_BYTES = 64 * 1024 * 1024
export const MAX_DEPTH = 64
export const MAX_ALIASES = 1_000
/** What a key, a number or a line's end is to YAML. A compute has about twenty; a token takes some 500 bytes. */
export const MAX_DOCUMENT_TOKENS = 400_000
export const MAX_TOTAL_TOKENS = 4_000_000
/** More of them would help nobody, and each takes memory. */
export const MAX_PROBLEMS = 1_000
/** Of a word in a message, in characters. */
export const LONGEST_MESSAGE = 500
