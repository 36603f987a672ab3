import type { Validator } from '../definition/validator.ts'

export declare const document: Validator
export declare const shared: Validator
export declare const policies: Validator
export declare const tierTable: Validator
