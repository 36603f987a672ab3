/** The input of every section of the benchmark. */
export interface Bench {
  /** How many runs there are for each measurement. */
  readonly runs: number
  /** Whether to do fewer runs and skip slow measurements. */
  readonly quick: boolean
  /** A folder for temporary files, which is deleted after the benchmark. */
  readonly folder: string
  /** The folder that contains the bundles of the processes (bench/processes/). */
  readonly built: string
}
