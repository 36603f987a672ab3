/** Put in by the build; running from source there is none. */
declare const __ESPALIER_VERSION__: string | undefined

export const VERSION: string = typeof __ESPALIER_VERSION__ === 'string' ? __ESPALIER_VERSION__ : '0.0.0-source'
