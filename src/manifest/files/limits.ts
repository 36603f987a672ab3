/** Bounds on what is read: a manifest is data of unknown origin. */
export const MAX_FILE_BYTES = 32 * 1024 * 1024
export const MAX_DEPTH = 64
export const MAX_ALIASES = 1_000
