export interface Explanation {
  readonly rule: string
  /** As it is written, or as it looks. */
  readonly example: string
  readonly wayOut?: string
}
