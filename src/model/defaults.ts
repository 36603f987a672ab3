/** What holds where a flag, an input or an option says nothing else. */

/** Projects worked on at once, and connections kept open. */
export const DEFAULT_CONCURRENCY = 16

/** How long a step's operations, or a locked project, are waited for. */
export const DEFAULT_TIMEOUT_MS = 600_000
