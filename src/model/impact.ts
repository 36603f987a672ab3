/** How a change affects the users of a compute. */

/** From harmless to worst. `may-restart`: some Postgres settings need a restart, but Espalier cannot tell which. */
export const IMPACTS = ['none', 'may-restart', 'restart', 'disconnect', 'move', 'replace', 'delete'] as const

export type Impact = (typeof IMPACTS)[number]

/** Kinds of consent. `restart` is allowed by default; the others need `--allow` or a separate answer. */
export const CONSENTS = ['restart', 'disconnect', 'move', 'replace', 'delete'] as const

export type Consent = (typeof CONSENTS)[number]

/** The consent that an impact needs. */
export const CONSENT_OF: Readonly<Record<Impact, Consent | undefined>> = {
  none: undefined,
  'may-restart': 'restart',
  restart: 'restart',
  disconnect: 'disconnect',
  move: 'move',
  replace: 'replace',
  delete: 'delete',
}

/** Short names, for narrow columns. */
export const IMPACT_NAMES: Readonly<Record<Impact, string>> = {
  none: 'no interruption',
  'may-restart': 'may restart',
  restart: 'restarts',
  disconnect: 'disconnects',
  move: 'moves',
  replace: 'replaced',
  delete: 'deleted',
}

/** Phrases for use in sentences. */
export const IMPACT_WORDS: Readonly<Record<Impact, string>> = {
  none: 'no one is interrupted',
  'may-restart': 'may restart: existing connections may drop, only some settings can be reloaded',
  restart: 'restarts: existing connections drop',
  disconnect: 'disconnects: existing connections end',
  move: 'moves: connections drop, same host, other data',
  replace: 'replaced: connections end, new host',
  delete: 'deleted: connections end, the host is lost, the branch and its data stay',
}

export const worstImpact = (impacts: readonly Impact[]): Impact =>
  impacts.reduce<Impact>((worst, impact) => (IMPACTS.indexOf(impact) > IMPACTS.indexOf(worst) ? impact : worst), 'none')
