/** What every section of the bench is given. */
export interface Bench {
  /** How often each figure is taken. */
  readonly runs: number
  /** Fewer runs, and nothing that takes long. */
  readonly quick: boolean
  /** For files of the bench alone; gone afterwards. */
  readonly folder: string
  /** Where the bundled processes are (bench/processes/). */
  readonly built: string
}
