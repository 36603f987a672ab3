/** Errors that users can act on, thrown across modules. Any other error is a bug. */

/** Exit codes of the program (docs/reference/commands.md). */
export const EXIT = {
  ok: 0,
  error: 1,
  changes: 2,
  partial: 3,
  stale: 4,
  scheduled: 5,
  interrupted: 130,
} as const

/** The type requires an entry for each code. */
export const EXIT_WORDS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: 'done, or nothing to do',
  error: 'wrong input, wrong usage, or another error; apply has changed nothing, unless its output was lost',
  changes:
    'plan --detailed-exitcode or drift found a difference or an unsettled compute, fmt --check an unformatted file, or a project of the agent is not in sync yet',
  partial: 'the plan was not applied completely, or the agent reports a problem',
  stale: 'a plan is stale or was edited, or a compute has changed since it was shown',
  scheduled: 'not everything was done yet, for example because a restart window is closed',
  interrupted: 'interrupted',
}

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Node's error for a host with several addresses has no message of its own, so its first cause is used. */
export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (error.message !== '') return error.message
  return error instanceof AggregateError && error.errors.length > 0 ? messageOf(error.errors[0]) : error.name
}

export class EspalierError extends Error {
  readonly code: string
  readonly hint: string | undefined
  readonly exitCode: ExitCode

  /** `code` is stable, `message` says what is wrong, and `hint` says what to do next. None may contain a secret. */
  constructor(
    code: string,
    message: string,
    options: { hint?: string | undefined; exitCode?: ExitCode; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'EspalierError'
    this.code = code
    this.hint = options.hint
    this.exitCode = options.exitCode ?? EXIT.error
  }
}
