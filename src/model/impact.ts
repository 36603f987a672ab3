/** What users of a compute notice of a change. */

/** From harmless to worst. `may-restart`: only some Postgres settings can be reloaded, and nobody knows which here. */
export const IMPACTS = ['none', 'may-restart', 'restart', 'disconnect', 'move', 'replace', 'delete'] as const

export type Impact = (typeof IMPACTS)[number]

/** The classes of consent: what a plain yes does not cover (`restart` is allowed by default). */
export const CONSENTS = ['restart', 'disconnect', 'move', 'replace', 'delete'] as const

export type Consent = (typeof CONSENTS)[number]

/** What must be consented to; harmless steps need nothing. */
export const CONSENT_OF: Readonly<Record<Impact, Consent | undefined>> = {
  none: undefined,
  'may-restart': 'restart',
  restart: 'restart',
  disconnect: 'disconnect',
  move: 'move',
  replace: 'replace',
  delete: 'delete',
}

/** In one word or two, for narrow columns. */
export const IMPACT_NAMES: Readonly<Record<Impact, string>> = {
  none: 'no interruption',
  'may-restart': 'may restart',
  restart: 'restarts',
  disconnect: 'disconnects',
  move: 'moves',
  replace: 'replaced',
  delete: 'deleted',
}

/** In a sentence. */
export const IMPACT_WORDS: Readonly<Record<Impact, string>> = {
  none: 'no one is interrupted',
  'may-restart': 'may restart: existing connections may drop',
  restart: 'restarts: existing connections drop',
  disconnect: 'disconnects: existing connections end',
  move: 'moves: connections drop, same host, other data',
  replace: 'replaced: connections end, new host',
  delete: 'deleted: connections end, the host is lost',
}

export const worstImpact = (impacts: readonly Impact[]): Impact =>
  impacts.reduce<Impact>((worst, impact) => (IMPACTS.indexOf(impact) > IMPACTS.indexOf(worst) ? impact : worst), 'none')
