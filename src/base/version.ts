/** Set by the build; absent when running from source. */
declare const __ESPALIER_VERSION__: string | undefined
declare const __ESPALIER_COMMIT__: string | undefined

export const VERSION: string = typeof __ESPALIER_VERSION__ === 'string' ? __ESPALIER_VERSION__ : '0.0.0-source'

/** The commit of the release, if this is one. */
export const RELEASE_COMMIT: string | undefined =
  typeof __ESPALIER_COMMIT__ === 'string' ? __ESPALIER_COMMIT__ : undefined
