import type { Validator } from '../definition/validator.ts'

export declare const tierTable: Validator
