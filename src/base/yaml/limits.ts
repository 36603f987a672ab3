/** Limits for YAML, which may be untrusted. */
export const MAX_DEPTH = 64
export const MAX_ALIASES = 1_000
/** YAML tokens (keys, values, newlines). A compute has about twenty, and a token takes about 500 bytes of memory. */
export const MAX_DOCUMENT_TOKENS = 400_000
/** Total of all files of a run. */
export const MAX_TOTAL_TOKENS = 4_000_000
/** More problems would not help anyone. */
export const MAX_PROBLEMS = 1_000
