import type { Validator } from '../definition/validator.ts'

export declare const document: Validator
export declare const shared: Validator
export declare const policies: Validator
/** Keys that are allowed both in documents and in shared files. */
export declare const shareableKeys: readonly string[]
