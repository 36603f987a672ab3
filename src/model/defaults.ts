/** Defaults of flags, inputs and options. */

/** Maximum number of projects that are processed concurrently. */
export const DEFAULT_CONCURRENCY = 16

/** How long to wait for a step's operations or for a locked project. */
export const DEFAULT_TIMEOUT_MS = 600_000
