/** Input of every benchmark section. */
export interface Bench {
  /** Runs per measurement. */
  readonly runs: number
  /** Fewer runs, and no slow measurements. */
  readonly quick: boolean
  /** Temporary files of the benchmark; deleted afterwards. */
  readonly folder: string
  /** Folder of the bundled processes (bench/processes/). */
  readonly built: string
}
