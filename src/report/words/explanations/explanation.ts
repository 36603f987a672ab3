export interface Explanation {
  readonly rule: string
  /** As in source or in output. */
  readonly example: string
  readonly wayOut?: string
}
