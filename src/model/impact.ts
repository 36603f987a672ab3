/** What a change does to those who use the compute. */

/** From harmless to worst. `may-restart`: only some Postgres settings can be reloaded, and nobody knows which here. */
export const IMPACTS = ['none', 'may-restart', 'restart', 'disconnect', 'reconnect', 'new-host', 'gone'] as const

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
  reconnect: 'move',
  'new-host': 'replace',
  gone: 'delete',
}

/** The words that every renderer uses. */
export const IMPACT_WORDS: Readonly<Record<Impact, string>> = {
  none: 'no one is interrupted',
  'may-restart': 'may restart: existing connections may drop',
  restart: 'restarts: existing connections drop',
  disconnect: 'disconnects: existing connections end',
  reconnect: 'moves: connections drop, same host, other data',
  'new-host': 'new host: connection details change',
  gone: 'gone: connections end, the host is lost',
}

export const worstImpact = (impacts: readonly Impact[]): Impact =>
  impacts.reduce<Impact>((worst, impact) => (IMPACTS.indexOf(impact) > IMPACTS.indexOf(worst) ? impact : worst), 'none')
