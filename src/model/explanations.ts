/** Explains all codes. The texts are in codes.yaml. Only `espalier explain` and its tests load this file. */
import codes from './generated/codes.json' with { type: 'json' }

export interface Explanation {
  readonly rule: string
  /** A case in which the code occurs. Absent if `mistake` and `correction` already show one. */
  readonly example?: string
  /** A manifest, command line or setting that causes the code, and the corrected form of it. */
  readonly mistake?: string
  readonly correction?: string
  readonly wayOut?: string
}

export const EXPLANATIONS: Readonly<Record<string, Explanation>> = codes
